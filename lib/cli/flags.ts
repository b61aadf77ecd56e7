import type { Flag, FlagTable } from "./command.ts";

type More = Omit<Flag, "type" | "summary" | "value">;

/** A flag without a value. */
export function toggle(summary: string, more: More = {}): Flag {
  return { type: "boolean", summary, ...more };
}

/** A flag with a value, which help calls by this name. */
export function text(value: string, summary: string, more: More = {}): Flag {
  return { type: "text", value, summary, ...more };
}

/** Some flags of a table, by name. */
export function pick(table: FlagTable, ...names: readonly string[]): FlagTable {
  return Object.fromEntries(Object.entries(table).filter(([name]) => names.includes(name)));
}

/** The flags that name the project's place. */
export const PLACE_FLAGS: FlagTable = {
  root: text("DIR", "the project's folder (default: found upward from here)", { variable: "RALPH_ROOT" }),
  config: text("FILE", "configuration file (default: ralph.config.json in the root)", { variable: "RALPH_CONFIG" }),
  workflow: text("NAME", "the workflow to use", { variable: "RALPH_WORKFLOW" }),
};

/** How text is shown. Every command takes these. */
export const SHOW_FLAGS: FlagTable = {
  "no-color": toggle("no colours (also `NO_COLOR`)"),
  ascii: toggle("print ASCII characters only", { variable: "RALPH_ASCII" }),
  verbose: toggle("more detail, the agent's output included"),
  help: toggle("show this help", { common: true }),
};

/** Data instead of text. */
export const DATA_FLAGS: FlagTable = { json: toggle("print JSON on standard output") };

/** How long a check may take, for commands that start no agent. */
export const CHECK_TIME_FLAG: FlagTable = {
  timeout: text("TIME", "longest time for one check: `90s`, `30m`, `2h` or seconds (default: verify.timeout)"),
};

/** The flag that names the project's place, for commands that ask nothing else. */
export const ROOT_FLAG: FlagTable = pick(PLACE_FLAGS, "root");

/** The flags for a report's form and its file. */
export const OUTPUT_FLAGS: FlagTable = {
  format: text("FORMAT", "md, html or json (default: md)", { choices: ["md", "html", "json"] }),
  output: text("FILE", "write to this file instead of standard output"),
};

/** How a run is shown while it runs. */
export const REPORT_FLAGS: FlagTable = {
  ui: text("MODE", "auto, rich, plain or json; an explicit plain reads answers from standard input", {
    choices: ["auto", "rich", "plain", "json"],
    variable: "RALPH_UI",
  }),
  json: toggle("print events as NDJSON on standard output (`--ui json`)"),
  quiet: toggle("only warnings and how it ended"),
};

/** The flags for the reach of agents and checks. */
export const SANDBOX_FLAGS: FlagTable = {
  sandbox: toggle("limit agents and checks to the working tree; ends with exit code 4 if no sandbox is available", {
    variable: "RALPH_SANDBOX",
    common: true,
  }),
  "no-sandbox": toggle("run without a sandbox, whatever the configuration says; with --strict the verdict says so", {
    rival: "sandbox",
  }),
};

/** The agent that does the work. */
export const AGENT_FLAGS: FlagTable = {
  agent: text("NAME", "a built-in agent by name", { variable: "RALPH_AGENT", rival: "agent-cmd", common: true }),
  "agent-cmd": text("TEXT", "any command as the agent: runs in the shell as written, prompt on standard input", {
    variable: "RALPH_AGENT_CMD",
    rival: "agent",
    common: true,
  }),
  script: text("FILE", "the file of turns for `--agent scripted`"),
  record: text("FILE", "record the agent's turns in this file, changes included"),
  cassette: text("FILE", "play a recorded file instead of an agent (`--agent replay`)"),
  model: text("NAME", "the model the agent uses", { variable: "RALPH_MODEL", common: true }),
  endpoint: text("NAME", "the model server of `builtin`, `opencode` and `pi`: a name such as `ollama`, or a URL", {
    variable: "RALPH_ENDPOINT",
  }),
  reasoning: text("LEVEL", "the agent's reasoning effort", { variable: "RALPH_REASONING" }),
  timeout: text("TIME", "longest agent turn: `90s`, `30m`, `2h` or seconds (default: 30m)", {
    variable: "RALPH_TIMEOUT",
  }),
  ...SANDBOX_FLAGS,
};

/** Questions answered beforehand. */
export const CONSENT_FLAGS: FlagTable = {
  "non-interactive": toggle("never ask; a missing answer ends with exit code 3"),
  answers: text("FILE", "answers to questions, YAML or JSON; without a terminal nothing else is asked"),
  approve: text("GATES", "consents given now: prd,understand,run or all; other questions are still asked", {
    many: true,
    common: true,
  }),
  ask: text("WHERE", "where to ask questions: `terminal`, or `page` (waits for an answer in `ralph ui`)", {
    choices: ["terminal", "page"],
    variable: "RALPH_ASK",
  }),
};

/** The flags that end or check the loop. */
export const LOOP_FLAGS: FlagTable = {
  "no-wait": toggle("end the run at a rate limit instead of waiting for its end"),
  "max-cost": text("USD", "end the run when the agent has cost this much", {
    variable: "RALPH_MAX_COST",
    common: true,
  }),
  verify: text("CMD", "a command that must pass for every item, instead of verify.default (repeatable)", {
    many: true,
    common: true,
  }),
  "allow-unverified": toggle("accept the agent's word for items that name no check; they are shown as unverified"),
  strict: toggle("strict mode: changed tests fail the attempt; items whose checks already pass are parked"),
  challenge: text(
    "N",
    "another agent writes N wrong implementations of each item, which its checks must catch, and an unseen check",
  ),
  "retry-blocked": toggle("retry parked items", { common: true }),
  "accept-changes": toggle(
    "agree to what has changed of configuration, recipes and prompts since a run was killed, and to changed tests",
  ),
  parallel: text(
    "N",
    "work on up to N items at once, each in a git worktree of its own (1 to 16)",
    { variable: "RALPH_PARALLEL", common: true },
  ),
  queue: text(
    "URL",
    "have the items worked on by `ralph worker`s elsewhere, by way of this PostgreSQL (`postgres://user@host/db`)",
    { variable: "RALPH_QUEUE" },
  ),
  "any-order": toggle("with --parallel: also work on stories of different priority at once"),
  interactive: toggle("ask after every iteration whether to continue"),
  branch: text("NAME", "work on this branch instead of the workflow's own; empty: stay on the current one", {
    empty: true,
    variable: "RALPH_BRANCH",
  }),
};

/** A cap on agent turns. */
export const ITERATION_FLAGS: FlagTable = {
  "max-iterations": text("N", "at most this many agent turns", { variable: "RALPH_MAX_ITERATIONS", common: true }),
};

/** The planner. */
export const PLAN_FLAGS: FlagTable = {
  resume: toggle("continue with the plan that was begun; needs no goal", { common: true }),
  base: text("BRANCH", "the branch that a new goal starts from (exec)"),
  "goal-file": text("FILE", "read the goal from this file; `-` as the goal: from standard input"),
};

/** Who is told how a run ended. */
const NOTIFY_FLAG: FlagTable = {
  notify: {
    type: "optional",
    value: "URL|COMMAND",
    summary: "notify you of the end and of questions, instead of `notify` in the configuration (default: the desktop)",
  },
};

/** A session with an agent: what it asks, who works, how it is shown, and where. */
export const SESSION_FLAGS: FlagTable = {
  ...CONSENT_FLAGS,
  ...AGENT_FLAGS,
  ...REPORT_FLAGS,
  ...PLACE_FLAGS,
  ...SHOW_FLAGS,
};

/** A run takes these, in every workflow. */
export const RUN_FLAGS: FlagTable = { ...ITERATION_FLAGS, ...LOOP_FLAGS, ...NOTIFY_FLAG, ...SESSION_FLAGS };

/** Commands that only look take these. */
export const LOOK_FLAGS: FlagTable = { ...DATA_FLAGS, ...PLACE_FLAGS, ...SHOW_FLAGS };

/** A look at a workflow's work, or at the backlog of a recipe. */
export const WORK_FLAGS: FlagTable = {
  recipe: text("FILE", "look at the backlog of this recipe (its `backlog`)"),
  ...LOOK_FLAGS,
};
