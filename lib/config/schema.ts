/**
 * `ralph.config.json`: every field with a default of its own, so that a block given in part loses nothing.
 *
 * @module
 */
import { z } from "zod";
import type { Config } from "../generated/config.ts";
import { defaultConfig, MOST_WORKERS } from "./defaults.ts";
import { block, command, count, httpUrl, named, seconds, section, withDefaults } from "./parts.ts";
import { NOTIFY_SCHEMA, PROVIDER_SCHEMA } from "./provider_schema.ts";

export type * from "../generated/config.ts";

const DEFAULTS = defaultConfig();
const limit = z.number().positive().nullable();
const commands = z.array(command);
const path = command.refine(
  (text) => !text.startsWith("/") && !text.split("/").includes(".."),
  "must be a path inside the root",
);
const outerPath = z.string().regex(/^(?:~$|~\/|\/)/, "must be absolute or begin with `~/`");
const host = z.string().regex(
  /^(?:localhost|\*\.[\w-]+(?:\.[\w-]+)+|[\w-]+(?:\.[\w-]+)+|\[[\da-f:]+\])(?::[1-9]\d{0,4})?$/i,
  "must be a host such as `packages.example.org`, `*.example.com`, `localhost:11434` or `[::1]:80`",
);

const hook = named(
  "HookConfig",
  "A hook, with exactly one of `workflow`, `prompt` and `command`.",
  z.strictObject({
    id: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, "must be letters, digits, ., _ and -").describe(
      "Name of the hook, unique in the list.",
    ),
    workflow: command.optional().describe("Recipe to run: a file, or a name in `.ralph/recipes`."),
    prompt: command.optional().describe("Prompt for an agent."),
    command: command.optional().describe("Shell command."),
    enabled: z.boolean().default(true).describe("`false` keeps the hook without running it."),
    parallel: z.boolean().default(true).describe("Run beside the next iteration; `false` runs before it starts."),
    when: z.enum(["after", "before"]).default("after").describe("Run after or before each iteration."),
    isolated: z.boolean().default(true).describe("Give a parallel hook a git worktree of its own."),
    agent: command.optional().describe("Known agent that runs the prompt. Without it: the agent of the run."),
    agentCommand: command.optional().describe("Command as the agent that runs the prompt."),
    timeout: seconds.optional().describe("Longest time the hook may take, in seconds. Without it: `provider.timeout`."),
  }).refine(
    (one) => [one.workflow, one.prompt, one.command].filter((action) => action !== undefined).length === 1,
    "needs exactly one of workflow, prompt and command",
  ),
);

const verify = section("verify", "What must pass.", {
  default: commands.describe("Commands that must pass for every item."),
  ui: commands.describe("Commands that must also pass for items tagged `ui`, after the browser checks."),
  timeout: seconds.describe("Longest time for one command, in seconds."),
  allowUnverified: z.boolean().describe(
    "Accept the agent's word for items that name no check. They are shown as unverified.",
  ),
  baseline: z.boolean().describe(
    "Run the commands of `verify.default` once before the first turn: shows what fails already, and stops where a command cannot run.",
  ),
  final: z.enum(["clean", "tree", "off"]).describe(
    "Where all checks run once more at the end: `clean` is a checkout of HEAD, `tree` the working tree, `off` nowhere.",
  ),
  isolated: z.boolean().describe("Run each item's commands in a clean checkout of what would be committed."),
  challenge: z.number().int().nonnegative().describe(
    "Number of wrong implementations another agent writes for each item; its checks must catch them.",
  ),
  challenger: command.optional().describe("Known agent that writes them. Without it: the agent of the run."),
});

const workspace = section("workspace", "What a clean checkout needs beside the files in git.", {
  copy: z.array(path).describe(
    "Globs of paths that git ignores and a clean checkout needs; they are copied. One without `/` matches at any depth.",
  ),
  link: z.array(path).describe(
    "Ignored paths that are too large to copy: the clean checkout shares them with the tree.",
  ),
  setup: command.nullable().describe("Command that installs what the checks need in a clean checkout."),
  setupTimeout: seconds.describe("Longest time for `workspace.setup`, in seconds."),
});

const parallel = section("parallel", "How items are worked on at once.", {
  workers: count.max(MOST_WORKERS).describe(
    "Items worked on at once, each in a git worktree of its own; with 1 in the project's own tree.",
  ),
  directory: command.describe(
    "Folder of these worktrees, relative to the top of the repository; `{repository}` is the name of its folder.",
  ),
  conflicts: count.describe("Conflicts of an item in one run after which it is worked on alone."),
  keep: z.boolean().describe("Leave the worktrees where they are when a run ends."),
});

const tests = section("tests", "Which files are tests, and when the checks are put to the test.", {
  globs: z.array(z.string().min(1)).describe("Globs of the files that are tests, relative to the root."),
  integrity: z.enum(["off", "report", "block"]).describe(
    "When the checks are put to the test: `report` once, at the end of a run; `block` after each attempt as well, which fails if they cannot be believed; `off` never.",
  ),
});

const experiments = section("experiments", "How the checks that passed are put to the test.", {
  budget: z.number().min(0).describe(
    "How many times as long as the final checks, and as many minutes, the experiments may take that put the checks to the test; `0`: there are none.",
  ),
});

const sandbox = section("sandbox", "What agents and checks can touch.", {
  mode: z.enum(["auto", "off", "light", "on", "required"]).describe(
    'Confine agents and checks to the working tree. `on` works without a sandbox where there is none and says so; `required` does not start. `light` confines less and breaks fewer runs. `auto` is `light` where that works, and `off` for root; with `trust: "strict"` both are `required`.',
  ),
  network: z.enum(["agent", "all", "none"]).describe(
    "Hosts that can be reached: the agent's own and `sandbox.allow`, all, or none.",
  ),
  allow: z.array(host).describe("More hosts that can be reached: `packages.example.org`, `*.example.com`."),
  write: z.array(outerPath).describe("More paths that may be written; `~` is your home folder."),
  read: z.array(outerPath).describe("More paths of your home folder that may be read."),
  environment: z.array(command).describe("Variables to pass although their names look like secrets."),
  command: z.array(z.string().min(1)).min(1).nullable().describe(
    "Command that runs each process instead, such as `docker run …`. `null` uses bubblewrap, on macOS Seatbelt.",
  ),
});

const limits = section("limits", "When a run ends although work is left. `null` is no limit.", {
  iterations: limit.describe("Agent turns in one run."),
  minutes: limit.describe("Length of one run, in minutes."),
  tokens: limit.describe("Input and output tokens of one run, as far as the agent reports them."),
  costUsd: limit.describe("Cost of one run, in US dollars, as far as the agent reports it."),
  idle: count.describe("Turns in a row that change no file and pass nothing."),
  stalled: count.describe("Turns in a row that pass nothing for the first time."),
  added: count.describe("Items added during a run that count as progress when they pass."),
  sameFailure: count.describe("Times the same failure may repeat before the item is blocked."),
  hooks: count.describe("Parallel hooks at once."),
  rejections: count.describe("Rejections after which the spec workflow gives up on a task."),
  maxWait: z.number().nonnegative().describe("Longest wait for a rate limit to end, in seconds. 0 never waits."),
});

const commits = section("commits", "What Ralph commits.", {
  work: z.boolean().describe("Commit what a verified turn left uncommitted."),
  prdChanges: z.boolean().describe("Commit Ralph's own state files."),
  squash: z.boolean().optional().describe(
    "Make one commit of a verified item: what the agent committed itself is folded into it. On without it, but off in gsd.",
  ),
  attempts: z.boolean().optional().describe(
    "Commit the record of each attempt that did not pass. Off without it, but on in spec and gsd; it is in the state file and the journal all the same.",
  ),
  message: command.describe("Subject of the feature workflow's state commits."),
});

const service = named(
  "ServiceConfig",
  "A server through which items tagged `ui` are looked at.",
  z.strictObject({
    name: command.describe("Name of the server, unique in the list."),
    start: command.optional().describe("Shell command that starts it. Without it you run the server yourself."),
    ready: httpUrl.describe("URL that answers with a status below 500 when the server is ready."),
    readyTimeout: seconds.default(30).describe("Longest time until it is ready, in seconds."),
    restartBeforeVerify: z.boolean().default(true).describe("Restart it before each verification."),
  }),
);

const browser = section("browser", "How pages are looked at.", {
  enabled: z.boolean().describe("Look at pages in a browser for items tagged `ui`."),
  executablePath: z.string().describe("Path of Chrome or Chromium. Empty: it is looked for."),
  headless: z.boolean().describe("Run the browser without a window."),
  screenshotDir: command.describe("Folder for screenshots, relative to the root."),
});

const tracker = section("tracker", "Where issues are that are worked off.", {
  name: z.enum(["github", "linear", "beads"]).nullable().describe(
    "Tracker whose issues are worked off. `null`: none is.",
  ),
  project: command.nullable().describe(
    "GitHub: the repository, `owner/name`; `null` is that of the remote. Linear: the key of the team; `null` is every team.",
  ),
  label: command.describe("Label of the issues that are meant."),
  people: z.array(command).describe("Labels of issues that are left to people."),
  states: block(
    "TrackerStates",
    "The label, in Linear the state of the workflow, that says how far Ralph is.",
    DEFAULTS.tracker.states,
    {
      working: command.describe("A runner works on it."),
      review: command.describe("It is on a branch; merging closes it."),
      blocked: command.describe("It waits for an answer."),
    },
  ),
  remote: command.describe("Remote of the repository that holds claims and branches."),
  heartbeat: seconds.describe(
    "Time between two signs of life of a runner, in seconds; another one takes over after two without a sign.",
  ),
  url: httpUrl.nullable().describe("Address of the API, for GitHub Enterprise: `https://HOST/api/v3`."),
});

const gsdCommands = z.strictObject({
  init: command.optional().describe("Begins a project."),
  roadmap: command.optional().describe("Writes the roadmap."),
  discover: command.optional().describe("Discusses a phase."),
  plan: command.optional().describe("Plans a phase."),
});

/** The schema, as `ralph schema config` prints it. */
export const CONFIG_SCHEMA: z.ZodType<Config> = named(
  "Config",
  "The whole configuration, defaults filled in.",
  z.strictObject(withDefaults(DEFAULTS, {
    $schema: z.string().optional().describe("JSON Schema for editors: the output of `ralph schema config`."),
    workflow: z.enum(["exec", "feature", "spec", "sprint", "gsd", "trackers"]).optional().describe(
      "Workflow of this project. Without it: the one whose files exist, else `exec`.",
    ),
    trust: z.enum(["normal", "strict"]).describe(
      "`strict` fails attempts that change tests, parks items whose checks pass before the work, and accepts no claim.",
    ),
    provider: PROVIDER_SCHEMA,
    verify,
    parallel,
    workspace,
    tests,
    experiments,
    attest: section("attest", "How verdicts are attested.", {
      key: command.nullable().describe(
        "File of the private key that signs them: Ed25519 or ECDSA in PEM, or an ssh key; `~` is your home folder. `null`: they are not signed.",
      ),
    }),
    finish: section("finish", "The choices of `ralph finish`.", {
      state: z.enum(["remove", "keep"]).describe(
        "`remove` takes the state of the run off the branch; `keep` leaves it in the request.",
      ),
    }),
    sandbox,
    limits,
    commits,
    services: z.array(service).refine(
      (all) => new Set(all.map(({ name }) => name)).size === all.length,
      "every service needs a name of its own",
    ).describe("Servers that must run for items tagged `ui`."),
    browser,
    logs: section("logs", "What is kept of earlier runs.", {
      keep: count.describe("Runs whose folders are kept; the oldest go first."),
    }),
    maxRetries: count.describe("Attempts for each item."),
    protect: z.array(z.string().min(1)).describe(
      "Globs of files that an agent must not change. `ralph.config.json` is always one of them.",
    ),
    hooks: z.array(hook).describe(
      "What runs with each iteration. Each hook has exactly one of `workflow`, `prompt` and `command`.",
    ),
    notify: z.array(NOTIFY_SCHEMA).describe(
      "Who is notified how a run ended, and what it asks. Each has exactly one of `url`, `command` and `desktop`.",
    ),
    tracker,
    ui: z.enum(["auto", "rich", "plain", "json"]).describe(
      "How a run is shown. `auto` is `rich` in a terminal, else `plain`.",
    ),
    gsd: section("gsd", "The workflow gsd.", {
      commands: gsdCommands.prefault({}).describe(
        "Slash commands, as the agent knows them: `/gsd:plan-phase`. Without them: what is installed.",
      ),
    }),
  })),
) as z.ZodType as z.ZodType<Config>;
