import type { Backlog } from "../../backlog/types.ts";
import type { FlagTable } from "../../cli/command.ts";
import * as flags from "../../cli/flags.ts";
import * as exec from "./types.ts";
import type { WorkflowRow } from "../workflow.ts";

/** The parts after the plan. */
const EXEC_FLAGS: FlagTable = {
  understand: flags.text("WHEN", "when to ask for the understanding loop: auto, always or never (default: auto)", {
    choices: ["auto", "always", "never"],
  }),
  "max-understand-iterations": flags.text("N", "auto or a number (default: auto, the open topics)"),
  "max-run-iterations": flags.text("N", "auto or a number (default: auto, the failing stories)"),
  recipe: flags.text("FILE", "run this recipe instead (default: ralph.recipe.ts in the root, where there is one)"),
};

/** The commands that continue its parts of a run. */
const RESUME: Readonly<Record<string, string>> = {
  plan: "ralph plan --resume",
  understand: "ralph understand",
  exec: "ralph run",
};

/** A goal becomes a PRD, story by story. */
export const EXEC: WorkflowRow = {
  name: "exec",
  summary: "a goal becomes scripts/ralph/prd.json, story by story verified and committed",
  hint: "a goal becomes stories, each verified and committed",
  start: 'ralph exec "<goal>"',
  state: exec.EXEC_FOLDER,
  runState: {
    files: [
      exec.PRD_FILE,
      exec.PLAN_STATE_FILE,
      exec.PLAN_TRANSCRIPT_FILE,
      exec.PROGRESS_FILE,
      `${exec.EXEC_FOLDER}/prd.json.before`,
    ],
    kept: [exec.CODEBASE_MAP_FILE],
    archive: `${exec.EXEC_FOLDER}/archive`,
    unused: async (root) => await (await import("./scaffold.ts")).unusedMap(root),
  },
  help: { plan: "scripts/ralph/prd.json, by questions and a review", run: "the stories of the PRD" },
  runs: () => Promise.resolve([exec.EXEC_RUNS]),
  resume: ({ name }) => Promise.resolve(RESUME[name] ?? null),
  workflow: {
    init: { next: '`ralph exec "<goal>"`' }, // planning makes what it needs
    plan: async (invocation, place) =>
      await (await import("./commands/plan_understand_run.ts")).planGoal(invocation, place),
    run: async (invocation, place) =>
      await (await import("./commands/plan_understand_run.ts")).runStories(invocation, place),
    status: async (look) => [await (await import("./commands/look.ts")).readStatus(look)],
    next: async (look) => await (await import("./commands/look.ts")).readNext(look),
    validate: async (validated) => await (await import("./commands/look.ts")).validateExec(validated),
    backlog: async (ralph) => (await import("./backlog.ts")).prdBacklog(ralph) as Backlog,
    verify: async (ralph) => await (await import("./commands/look.ts")).verifyStories(ralph),
  },
  commands: [
    {
      name: "exec",
      group: "start",
      summary: "plan a goal and implement it, each after your yes",
      usage: '"<goal>"',
      arity: [0, 1],
      flags: {
        issue: flags.text("ID", "an issue of the tracker as the goal (default tracker: github)"),
        ...flags.PLAN_FLAGS,
        ...EXEC_FLAGS,
        "dry-run": flags.toggle("show what would happen; start no agent and no check, write nothing", { common: true }),
        ...flags.LOOP_FLAGS,
        ...flags.SESSION_FLAGS,
      },
      details: [
        "Nothing is implemented without a yes: at the prompt, or by `--approve run`.",
        "The same command again continues where it stopped.",
        "`--dry-run` shows agent, plan, branch, checks, commits and questions as they would be, and what would stop it.",
      ],
      load: () => import("./commands/exec.ts"),
    },
    {
      name: "understand",
      summary: "fill the codebase map, one topic an iteration; writes nothing else",
      usage: "",
      arity: [0, 0],
      flags: {
        ...flags.ITERATION_FLAGS,
        ...flags.pick(flags.LOOP_FLAGS, "max-cost", "interactive", "accept-changes"),
        ...flags.SESSION_FLAGS,
      },
      load: async () => ({ run: (await import("./commands/plan_understand_run.ts")).understandCode }),
    },
    {
      name: "import",
      summary: "make a PRD of another tool's plan: snarktank/ralph, ralph-tui, openralph, Taskmaster, spec-kit",
      usage: "FILE",
      arity: [1, 1],
      flags: {
        verify: flags.text("CMD", "a command that every story must pass: added to verify.default (repeatable)", {
          many: true,
        }),
        tag: flags.text("NAME", "Taskmaster: the tag whose tasks are meant (default: master)"),
        "dry-run": flags.toggle("print the PRD, write nothing"),
        ...flags.CONSENT_FLAGS,
        ...flags.REPORT_FLAGS,
        ...flags.pick(flags.PLACE_FLAGS, "root", "config"),
        ...flags.SHOW_FLAGS,
      },
      details: [
        "It shows the PRD that it would write to scripts/ralph/prd.json, and writes after a yes, at the prompt or by",
        "`--approve import`. A PRD that is there already is never overwritten; a file of another tool in that place is",
        "kept beside it. What a PRD has no place for is listed.",
      ],
      load: () => import("./commands/import.ts"),
    },
    {
      name: "demo",
      group: "start",
      summary: "watch the whole workflow on a small real project",
      usage: "",
      arity: [0, 0],
      flags: {
        ...flags.pick(flags.CONSENT_FLAGS, "approve", "non-interactive"),
        ...flags.pick(flags.AGENT_FLAGS, "agent", "agent-cmd", "model", "endpoint", "reasoning"),
        ...flags.REPORT_FLAGS,
        ...flags.SHOW_FLAGS,
      },
      details: [
        "The agent plays a script; with `--agent` a real one does the work, at its own price.",
        "It makes a git repository in a temporary folder and leaves it there for you to look at.",
        "`--approve all` lets it run by itself.",
      ],
      load: () => import("./commands/demo.ts"),
    },
  ],
};
