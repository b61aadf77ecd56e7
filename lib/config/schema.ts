/**
 * `ralph.config.json`: every field with a default of its own, so that a block given in part loses nothing.
 *
 * @module
 */
import { z } from "zod";
import { defaultConfig, MOST_WORKERS } from "./defaults.ts";
import { isHttpUrl, key, NOTIFY_SCHEMA } from "./notify_schema.ts";
import { PROVIDER_SCHEMA } from "./provider_schema.ts";
import type { Config } from "./types.ts";

export type * from "./types.ts";

const command = z.string().trim().min(1, "must not be empty");
const seconds = z.number().positive();
const limit = z.number().positive().nullable();
const count = z.number().int().positive();
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

const hook = z.strictObject({
  id: key(
    z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, "must be letters, digits, ., _ and -"),
    "Name of the hook, unique in the list.",
  ),
  workflow: key(command.optional(), "Recipe to run: a file, or a name in `.ralph/recipes`."),
  prompt: key(command.optional(), "Prompt for an agent."),
  command: key(command.optional(), "Shell command."),
  enabled: key(z.boolean().default(true), "`false` keeps the hook without running it."),
  parallel: key(z.boolean().default(true), "Run beside the next iteration; `false` runs before it starts."),
  when: key(z.enum(["after", "before"]).default("after"), "Run after or before each iteration."),
  isolated: key(z.boolean().default(true), "Give a parallel hook a git worktree of its own."),
  agent: key(command.optional(), "Known agent that runs the prompt. Without it: the agent of the run."),
  agentCommand: key(command.optional(), "Command as the agent that runs the prompt."),
  timeout: key(seconds.optional(), "Longest time the hook may take, in seconds. Without it: `provider.timeout`."),
}).refine(
  (one) => [one.workflow, one.prompt, one.command].filter((action) => action !== undefined).length === 1,
  "needs exactly one of workflow, prompt and command",
);

const DEFAULTS = defaultConfig();
const verify = z.strictObject({
  default: key(commands.default([]), "Commands that must pass for every item."),
  ui: key(commands.default([]), "Commands that must also pass for items tagged `ui`, after the browser checks."),
  timeout: key(seconds.default(DEFAULTS.verify.timeout), "Longest time for one command, in seconds."),
  allowUnverified: key(
    z.boolean().default(DEFAULTS.verify.allowUnverified),
    "Accept the agent's word for items that name no check. They are shown as unverified.",
  ),
  baseline: key(
    z.boolean().default(DEFAULTS.verify.baseline),
    "Run the commands of `verify.default` once before the first turn: shows what fails already, and stops where a command cannot run.",
  ),
  final: key(
    z.enum(["clean", "tree", "off"]).default(DEFAULTS.verify.final),
    "Where all checks run once more at the end: `clean` is a checkout of HEAD, `tree` the working tree, `off` nowhere.",
  ),
  isolated: key(
    z.boolean().default(DEFAULTS.verify.isolated),
    "Run each item's commands in a clean checkout of what would be committed.",
  ),
  challenge: key(
    z.number().int().nonnegative().default(DEFAULTS.verify.challenge),
    "Number of wrong implementations another agent writes for each item; its checks must catch them.",
  ),
  challenger: key(command.optional(), "Known agent that writes them. Without it: the agent of the run."),
});

const workspace = z.strictObject({
  copy: key(
    z.array(path).default([...DEFAULTS.workspace.copy]),
    "Globs of paths that git ignores and a clean checkout needs; they are copied. One without `/` matches at any depth.",
  ),
  link: key(
    z.array(path).default([]),
    "Ignored paths that are too large to copy: the clean checkout shares them with the tree.",
  ),
  setup: key(
    command.nullable().default(DEFAULTS.workspace.setup),
    "Command that installs what the checks need in a clean checkout.",
  ),
  setupTimeout: key(
    seconds.default(DEFAULTS.workspace.setupTimeout),
    "Longest time for `workspace.setup`, in seconds.",
  ),
});

const parallel = z.strictObject({
  workers: key(
    count.max(MOST_WORKERS).default(DEFAULTS.parallel.workers),
    "Items worked on at once, each in a git worktree of its own; with 1 in the project's own tree.",
  ),
  directory: key(
    command.default(DEFAULTS.parallel.directory),
    "Folder of these worktrees, relative to the top of the repository; `{repository}` is the name of its folder.",
  ),
  conflicts: key(
    count.default(DEFAULTS.parallel.conflicts),
    "Conflicts of an item in one run after which it is worked on alone.",
  ),
  keep: key(z.boolean().default(DEFAULTS.parallel.keep), "Leave the worktrees where they are when a run ends."),
});

const tests = z.strictObject({
  globs: key(
    z.array(z.string().min(1)).default([...DEFAULTS.tests.globs]),
    "Globs of the files that are tests, relative to the root.",
  ),
  integrity: key(
    z.enum(["off", "report", "block"]).default(DEFAULTS.tests.integrity),
    "What happens when an agent changes existing tests and the old ones fail: `report` names it at the end, `block` fails the attempt, `off` does not look.",
  ),
});

const sandbox = z.strictObject({
  mode: key(
    z.enum(["auto", "off", "on", "required"]).default(DEFAULTS.sandbox.mode),
    'Confine agents and checks to the working tree. `on` works without a sandbox where there is none and says so; `required` does not start. `auto` is `off`, or `required` with `trust: "strict"`.',
  ),
  network: key(
    z.enum(["agent", "all", "none"]).default(DEFAULTS.sandbox.network),
    "Hosts that can be reached: the agent's own and `sandbox.allow`, all, or none.",
  ),
  allow: key(z.array(host).default([]), "More hosts that can be reached: `packages.example.org`, `*.example.com`."),
  write: key(z.array(outerPath).default([]), "More paths that may be written; `~` is your home folder."),
  read: key(z.array(outerPath).default([]), "More paths of your home folder that may be read."),
  environment: key(z.array(command).default([]), "Variables to pass although their names look like secrets."),
  command: key(
    z.array(z.string().min(1)).min(1).nullable().default(null),
    "Command that runs each process instead, such as `docker run …`. `null` uses bubblewrap, on macOS Seatbelt.",
  ),
});

const limits = z.strictObject({
  iterations: key(limit.default(DEFAULTS.limits.iterations), "Agent turns in one run."),
  minutes: key(limit.default(DEFAULTS.limits.minutes), "Length of one run, in minutes."),
  tokens: key(
    limit.default(DEFAULTS.limits.tokens),
    "Input and output tokens of one run. What an agent does not report is not counted.",
  ),
  costUsd: key(
    limit.default(DEFAULTS.limits.costUsd),
    "Cost of one run, in US dollars. What an agent does not report is not counted.",
  ),
  idle: key(count.default(DEFAULTS.limits.idle), "Turns in a row that change no file and pass nothing."),
  stalled: key(count.default(DEFAULTS.limits.stalled), "Turns in a row that pass nothing for the first time."),
  added: key(
    count.default(DEFAULTS.limits.added),
    "Items added during a run that count as progress when they pass.",
  ),
  sameFailure: key(
    count.default(DEFAULTS.limits.sameFailure),
    "Times the same failure may repeat before the item is blocked.",
  ),
  hooks: key(count.default(DEFAULTS.limits.hooks), "Parallel hooks at once."),
  rejections: key(
    count.default(DEFAULTS.limits.rejections),
    "Rejections after which the spec workflow gives up on a task.",
  ),
  maxWait: key(
    z.number().nonnegative().default(DEFAULTS.limits.maxWait),
    "Longest wait for a rate limit to end, in seconds. 0 never waits.",
  ),
});

const commits = z.strictObject({
  work: key(z.boolean().default(DEFAULTS.commits.work), "Commit what a verified turn left uncommitted."),
  prdChanges: key(z.boolean().default(DEFAULTS.commits.prdChanges), "Commit Ralph's own state files."),
  squash: key(
    z.boolean().optional(),
    "Make one commit of a verified item: what the agent committed itself is folded into it. On without it, but off in gsd.",
  ),
  attempts: key(
    z.boolean().optional(),
    "Commit the record of each attempt that did not pass. Off without it, but on in spec and gsd; it is in the state file and the journal all the same.",
  ),
  message: key(command.default(DEFAULTS.commits.message), "Subject of the feature workflow's state commits."),
});

const service = z.strictObject({
  name: key(command, "Name of the server, unique in the list."),
  start: key(command.optional(), "Shell command that starts it. Without it you run the server yourself."),
  ready: key(
    z.string().refine(isHttpUrl, "must be an http or https URL"),
    "URL that answers with a status below 500 when the server is ready.",
  ),
  readyTimeout: key(seconds.default(30), "Longest time until it is ready, in seconds."),
  restartBeforeVerify: key(z.boolean().default(true), "Restart it before each verification."),
});

const browser = z.strictObject({
  enabled: key(z.boolean().default(DEFAULTS.browser.enabled), "Look at pages in a browser for items tagged `ui`."),
  executablePath: key(
    z.string().default(DEFAULTS.browser.executablePath),
    "Path of Chrome or Chromium. Empty: it is looked for.",
  ),
  headless: key(z.boolean().default(DEFAULTS.browser.headless), "Run the browser without a window."),
  screenshotDir: key(
    command.default(DEFAULTS.browser.screenshotDir),
    "Folder for screenshots, relative to the root.",
  ),
});

const gsdCommands = z.strictObject({
  init: key(command.optional(), "Begins a project."),
  roadmap: key(command.optional(), "Writes the roadmap."),
  discover: key(command.optional(), "Discusses a phase."),
  plan: key(command.optional(), "Plans a phase."),
});

/** The schema, as `ralph schema config` prints it. */
export const CONFIG_SCHEMA: z.ZodType<Config> = z.strictObject({
  $schema: key(z.string().optional(), "JSON Schema for editors: the output of `ralph schema config`."),
  workflow: key(
    z.enum(["exec", "feature", "spec", "sprint", "gsd"]).optional(),
    "Workflow of this project. Without it: the one whose files exist, else `exec`.",
  ),
  trust: key(
    z.enum(["normal", "strict"]).default(DEFAULTS.trust),
    "`strict` fails attempts that change tests, parks items whose checks pass before the work, and accepts no claim.",
  ),
  provider: key(PROVIDER_SCHEMA.prefault({}), "The agent that does the work."),
  verify: key(verify.prefault({}), "What must pass."),
  parallel: key(parallel.prefault({}), "How items are worked on at once."),
  workspace: key(workspace.prefault({}), "What a clean checkout needs beside the files in git."),
  tests: key(tests.prefault({}), "Which files are tests, and what a change to them means."),
  sandbox: key(sandbox.prefault({}), "What agents and checks can touch."),
  limits: key(limits.prefault({}), "When a run ends although work is left. `null` is no limit."),
  commits: key(commits.prefault({}), "What Ralph commits."),
  services: key(
    z.array(service).default([]).refine(haveOwnNames, "every service needs a name of its own"),
    "Servers that must run for items tagged `ui`.",
  ),
  browser: key(browser.prefault({}), "How pages are looked at."),
  logs: key(
    z.strictObject({
      keep: key(count.default(DEFAULTS.logs.keep), "Runs whose folders are kept; the oldest go first."),
    })
      .prefault({}),
    "What is kept of earlier runs.",
  ),
  maxRetries: key(count.default(DEFAULTS.maxRetries), "Attempts for each item."),
  protect: key(
    z.array(z.string().min(1)).default([]),
    "Globs of files that an agent must not change. `ralph.config.json` is always one of them.",
  ),
  hooks: key(
    z.array(hook).default([]),
    "What runs with each iteration. Each hook has exactly one of `workflow`, `prompt` and `command`.",
  ),
  notify: key(
    z.array(NOTIFY_SCHEMA).default([]),
    "Who is notified how a run ended, and what it asks. Each has exactly one of `url`, `command` and `desktop`.",
  ),
  ui: key(
    z.enum(["auto", "rich", "plain", "json"]).default(DEFAULTS.ui),
    "How a run is shown. `auto` is `rich` in a terminal, else `plain`.",
  ),
  gsd: key(
    z.strictObject({
      commands: key(
        gsdCommands.prefault({}),
        "Slash commands, as the agent knows them: `/gsd:plan-phase`. Without them: what is installed.",
      ),
    }).prefault({}),
    "The workflow gsd.",
  ),
});

function haveOwnNames(services: readonly { readonly name: string }[]): boolean {
  return new Set(services.map(({ name }) => name)).size === services.length;
}
