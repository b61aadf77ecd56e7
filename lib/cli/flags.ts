import type { Flag, FlagTable } from "./command.ts";

/** Some flags of a table, by name. */
export function pick(table: FlagTable, ...names: readonly string[]): FlagTable {
  const picked: Record<string, Flag> = {};
  for (const name in table) {
    const flag = table[name];
    if (flag !== undefined && names.includes(name)) picked[name] = flag;
  }
  return picked;
}

/** The flags that name the project's place. */
export const PLACE_FLAGS: FlagTable = {
  root: {
    type: "text",
    value: "DIR",
    variable: "RALPH_ROOT",
    summary: "the project's folder (default: found upward from here)",
  },
  config: {
    type: "text",
    value: "FILE",
    variable: "RALPH_CONFIG",
    summary: "configuration file (default: ralph.config.json in the root)",
  },
  workflow: { type: "text", value: "NAME", variable: "RALPH_WORKFLOW", summary: "the workflow to use" },
};

/** How text is shown. Every command takes these. */
export const SHOW_FLAGS: FlagTable = {
  "no-color": { type: "boolean", summary: "no colours (also `NO_COLOR`)" },
  ascii: { type: "boolean", variable: "RALPH_ASCII", summary: "print ASCII characters only" },
  verbose: { type: "boolean", summary: "more detail, the agent's output included" },
  help: { type: "boolean", summary: "show this help" },
};

/** Data instead of text. */
export const DATA_FLAGS: FlagTable = {
  json: { type: "boolean", summary: "print JSON on standard output" },
};

/** How long a check may take, for commands that start no agent. */
export const CHECK_TIME_FLAG: FlagTable = {
  timeout: {
    type: "text",
    value: "TIME",
    summary: "longest time for one check: `90s`, `30m`, `2h` or seconds (default: verify.timeout)",
  },
};

/** The flag that names the project's place, for commands that ask nothing else. */
export const ROOT_FLAG: FlagTable = { root: PLACE_FLAGS["root"] as FlagTable[string] };

/** The flags for a report's form and its file. */
export const OUTPUT_FLAGS: FlagTable = {
  format: {
    type: "text",
    value: "FORMAT",
    choices: ["md", "html", "json"],
    summary: "md, html or json (default: md)",
  },
  output: { type: "text", value: "FILE", summary: "write to this file instead of standard output" },
};

/** How a run is shown while it runs. */
export const REPORT_FLAGS: FlagTable = {
  ui: {
    type: "text",
    value: "MODE",
    choices: ["auto", "rich", "plain", "json"],
    variable: "RALPH_UI",
    summary: "auto, rich, plain or json; an explicit plain reads answers from standard input",
  },
  json: { type: "boolean", summary: "print events as NDJSON on standard output (`--ui json`)" },
  quiet: { type: "boolean", summary: "only warnings and how it ended" },
};

/** The flags for the reach of agents and checks. */
export const SANDBOX_FLAGS: FlagTable = {
  sandbox: {
    type: "boolean",
    variable: "RALPH_SANDBOX",
    summary: "limit agents and checks to the working tree; ends with exit code 4 if no sandbox is available",
  },
  "no-sandbox": {
    type: "boolean",
    rival: "sandbox",
    summary: "run without a sandbox, whatever the configuration says; with --strict the verdict says so",
  },
};

/** The agent that does the work. */
export const AGENT_FLAGS: FlagTable = {
  ...SANDBOX_FLAGS,
  agent: {
    type: "text",
    value: "NAME",
    variable: "RALPH_AGENT",
    rival: "agent-cmd",
    summary: "a built-in agent by name",
  },
  "agent-cmd": {
    type: "text",
    value: "TEXT",
    variable: "RALPH_AGENT_CMD",
    rival: "agent",
    summary: "any command as the agent: runs in the shell as written, prompt on standard input",
  },
  script: { type: "text", value: "FILE", summary: "the file of turns for `--agent scripted`" },
  record: { type: "text", value: "FILE", summary: "record the agent's turns in this file, changes included" },
  cassette: { type: "text", value: "FILE", summary: "play a recorded file instead of an agent (`--agent replay`)" },
  model: { type: "text", value: "NAME", variable: "RALPH_MODEL", summary: "the model the agent uses" },
  endpoint: {
    type: "text",
    value: "NAME",
    variable: "RALPH_ENDPOINT",
    summary: "the model server of `builtin`, `opencode` and `pi`: a name such as `ollama`, or a URL",
  },
  reasoning: { type: "text", value: "LEVEL", variable: "RALPH_REASONING", summary: "the agent's reasoning effort" },
  timeout: {
    type: "text",
    value: "TIME",
    variable: "RALPH_TIMEOUT",
    summary: "longest agent turn: `90s`, `30m`, `2h` or seconds (default: 30m)",
  },
};

/** Questions answered beforehand. */
export const CONSENT_FLAGS: FlagTable = {
  "non-interactive": { type: "boolean", summary: "never ask; a missing answer ends with exit code 3" },
  answers: {
    type: "text",
    value: "FILE",
    summary: "answers to questions, YAML or JSON; without a terminal nothing else is asked",
  },
  approve: {
    type: "text",
    value: "GATES",
    many: true,
    summary: "consents given now: prd,understand,run or all; other questions are still asked",
  },
  ask: {
    type: "text",
    value: "WHERE",
    choices: ["terminal", "page"],
    variable: "RALPH_ASK",
    summary: "where to ask questions: `terminal`, or `page` (waits for an answer in `ralph ui`)",
  },
};

/** The flags that end or check the loop. */
export const LOOP_FLAGS: FlagTable = {
  "no-wait": { type: "boolean", summary: "end the run at a rate limit instead of waiting for its end" },
  "max-cost": {
    type: "text",
    value: "USD",
    variable: "RALPH_MAX_COST",
    summary: "end the run when the agent has cost this much",
  },
  verify: {
    type: "text",
    value: "CMD",
    many: true,
    summary: "a command that must pass for every item, instead of verify.default (repeatable)",
  },
  "allow-unverified": {
    type: "boolean",
    summary: "accept the agent's word for items that name no check; they are shown as unverified",
  },
  strict: {
    type: "boolean",
    summary: "strict mode: changed tests fail the attempt; items whose checks already pass are parked",
  },
  challenge: {
    type: "text",
    value: "N",
    summary:
      "another agent writes N wrong implementations of each item, which its checks must catch, and an unseen check",
  },
  "retry-blocked": { type: "boolean", summary: "retry parked items" },
  "accept-changes": {
    type: "boolean",
    summary:
      "agree to what has changed of configuration, recipes and prompts since a run was killed, and to changed tests",
  },
  parallel: {
    type: "text",
    value: "N",
    variable: "RALPH_PARALLEL",
    summary: "work on up to N items at once, each in a git worktree of its own, landed one by one (1 to 16)",
  },
  queue: {
    type: "text",
    value: "URL",
    variable: "RALPH_QUEUE",
    summary:
      "have the items worked on by `ralph worker`s elsewhere, by way of this PostgreSQL (`postgres://user@host/db`)",
  },
  "any-order": {
    type: "boolean",
    summary: "with --parallel: also work on stories of different priority at once",
  },
  interactive: { type: "boolean", summary: "ask after every iteration whether to continue" },
  branch: {
    type: "text",
    value: "NAME",
    empty: true,
    variable: "RALPH_BRANCH",
    summary: "work on this branch instead of the workflow's own; empty: stay on the current one",
  },
};

/** A cap on agent turns. */
export const ITERATION_FLAGS: FlagTable = {
  "max-iterations": {
    type: "text",
    value: "N",
    variable: "RALPH_MAX_ITERATIONS",
    summary: "at most this many agent turns",
  },
};

/** The planner. */
export const PLAN_FLAGS: FlagTable = {
  resume: { type: "boolean", summary: "continue with the plan that was begun; needs no goal" },
  base: { type: "text", value: "BRANCH", summary: "the branch that a new goal starts from (exec)" },
  "goal-file": {
    type: "text",
    value: "FILE",
    summary: "read the goal from this file; `-` as the goal: from standard input",
  },
};

/** A look at agents that costs a turn each. */
export const PROBE_FLAGS: FlagTable = {
  probe: {
    type: "optional",
    value: "AGENTS",
    summary:
      "send one short prompt through each of these agents (default: the configured one) and check what comes back",
  },
};

/** A look at what a sandbox permits. */
export const SANDBOX_PROBE_FLAGS: FlagTable = {
  sandbox: { type: "boolean", summary: "try forbidden actions in a sandbox and show which ones it denies" },
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

/** The backlog of a recipe instead of a workflow's. */
export const BACKLOG_FLAG: FlagTable = {
  recipe: { type: "text", value: "FILE", summary: "look at the backlog of this recipe (its `backlog`)" },
};
