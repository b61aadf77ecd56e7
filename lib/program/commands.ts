/**
 * The command table: each workflow's own commands, and those that hold for every workflow. Importing it loads no
 * command: `load` does.
 *
 * @module
 */
import type { Command } from "../cli/command.ts";
import {
  AGENT_FLAGS,
  BACKLOG_FLAG,
  CHECK_TIME_FLAG,
  CONSENT_FLAGS,
  DATA_FLAGS,
  LOOK_FLAGS,
  LOOP_FLAGS,
  OUTPUT_FLAGS,
  pick,
  PLACE_FLAGS,
  PLAN_FLAGS,
  PROBE_FLAGS,
  REPORT_FLAGS,
  ROOT_FLAG,
  RUN_FLAGS,
  SANDBOX_FLAGS,
  SANDBOX_PROBE_FLAGS,
  SHOW_FLAGS,
} from "../cli/flags.ts";
import { MACHINES } from "./machine_commands.ts";
import { DEFAULT_WORKFLOW, WORKFLOWS } from "../workflows/table.ts";
import { WATCHING } from "./watching.ts";
import type { WorkflowRow } from "../workflows/workflow.ts";
import { PRINTING } from "./printing_commands.ts";

/** `[FEATURE]`: what shared commands take, in the workflows that take something. */
function scopesOf(rows: readonly WorkflowRow[]): string {
  return `[${rows.flatMap(({ scope }) => scope === undefined ? [] : [scope]).join("|")}]`;
}

const SCOPE = scopesOf(WORKFLOWS);

/** A shared command does this in each workflow, for its help. */
function inEach(command: "plan" | "run"): readonly string[] {
  const width = Math.max(...WORKFLOWS.map(({ name }) => name.length)) + 2;
  return WORKFLOWS.flatMap(({ name, help }) => {
    const words = help?.[command];
    return words === undefined ? [] : [`${name.padEnd(width)}${words}`];
  });
}

const SHARED: readonly Command[] = [
  {
    name: "plan",
    summary: "plan a goal, a spec or a phase",
    usage: '"<goal>"|SPEC.md|PHASE',
    arity: [0, 1],
    flags: { ...PLAN_FLAGS, ...CONSENT_FLAGS, ...AGENT_FLAGS, ...REPORT_FLAGS, ...PLACE_FLAGS, ...SHOW_FLAGS },
    details: inEach("plan"),
    load: async () => ({ run: (await import("./commands/init_plan_run.ts")).plan }),
  },
  {
    name: "run",
    summary: "work on the planned items, one an iteration, until all are verified",
    usage: scopesOf(WORKFLOWS.filter(({ help }) => help?.run !== undefined)),
    arity: [0, 1],
    flags: {
      ...Object.assign({}, ...WORKFLOWS.map(({ runFlags }) => runFlags)),
      "dry-run": {
        type: "boolean",
        summary: "show what would come first; starts no agent and no check, writes nothing",
      },
      ...RUN_FLAGS,
    },
    details: inEach("run"),
    load: async () => ({ run: (await import("./commands/init_plan_run.ts")).run }),
  },
];

const LOOKING: readonly Command[] = [
  {
    name: "verify",
    summary: "run the checks of the work; starts no agent",
    usage: SCOPE,
    arity: [0, 1],
    flags: {
      ...pick(LOOP_FLAGS, "verify", "allow-unverified"),
      ...CHECK_TIME_FLAG,
      ...SANDBOX_FLAGS,
      ...BACKLOG_FLAG,
      ...LOOK_FLAGS,
    },
    load: async () => ({ run: (await import("./commands/verify_and_validate.ts")).verify }),
  },
  {
    name: "next",
    isProse: true,
    insideRun: true,
    summary: "show the item that the next iteration would take",
    usage: SCOPE,
    arity: [0, 1],
    flags: { ...BACKLOG_FLAG, ...LOOK_FLAGS },
    load: async () => ({ run: (await import("./commands/status_and_next.ts")).next }),
  },
  {
    name: "validate",
    isProse: true,
    insideRun: true,
    summary: "check the configuration and the state files, all problems at once",
    usage: SCOPE,
    arity: [0, 1],
    flags: { ...BACKLOG_FLAG, ...LOOK_FLAGS },
    load: async () => ({ run: (await import("./commands/verify_and_validate.ts")).validate }),
  },
  {
    name: "status",
    isProse: true,
    insideRun: true,
    summary: "show the state of the work: done, open, next",
    usage: SCOPE,
    arity: [0, 1],
    flags: { ...BACKLOG_FLAG, ...LOOK_FLAGS },
    load: async () => ({ run: (await import("./commands/status_and_next.ts")).status }),
  },
  ...WATCHING,
  {
    name: "finish",
    summary: "open a pull request for the work branch, or merge it; asks first",
    usage: "",
    arity: [0, 0],
    flags: {
      merge: { type: "boolean", summary: "merge into the base in this repository; nothing is pushed" },
      squash: { type: "boolean", summary: "merge as one commit" },
      draft: { type: "boolean", summary: "make the request a draft" },
      base: {
        type: "text",
        value: "BRANCH",
        summary: "the branch that the work goes to (default: the default branch)",
      },
      "dry-run": { type: "boolean", summary: "show what would be done, and the request's text; do nothing" },
      ...CONSENT_FLAGS,
      ...REPORT_FLAGS,
      ...pick(PLACE_FLAGS, "root", "config", "workflow"),
      ...SHOW_FLAGS,
    },
    details: [
      "It pushes the branch and asks `gh` or `glab` for the request, where the remote is theirs and they are installed; else",
      "it prints the address that git names. Without a remote it offers a merge here. The request says what each story had",
      "to fulfil, by which checks that was proved, whether the checks can be believed, and what no check has seen.",
      "`--approve finish` is the yes beforehand; `--approve all` does not include it. After the yes the state of the run is",
      "taken off the branch, kept under refs/ralph/archive; `ralph run` on the branch lays it in again.",
    ],
    load: () => import("./commands/finish.ts"),
  },
  {
    name: "report",
    insideRun: true,
    summary: "show what a run did, as Markdown, HTML or JSON",
    usage: "[RUN]",
    arity: [0, 1],
    flags: {
      for: {
        type: "text",
        value: "READER",
        choices: ["review"],
        summary: "review: what the request of `ralph finish` says, as Markdown",
      },
      ...OUTPUT_FLAGS,
      ...ROOT_FLAG,
      ...SHOW_FLAGS,
    },
    details: [
      "RUN is a run's id, the path of its folder, or of a folder that holds runs.",
      "Without it: the newest run below the root, whatever its workflow. The HTML is one file that asks for nothing from",
      "outside; `ralph schema report` describes the JSON.",
    ],
    load: () => import("./commands/report.ts"),
  },
];

const TOOLS: readonly Command[] = [
  {
    name: "skill",
    summary: "write the skill file by which an agent in a chat uses Ralph",
    usage: "install AGENT",
    arity: [1, 2],
    flags: {
      user: { type: "boolean", summary: "in your home folder, for every project, instead of in this one" },
      ...ROOT_FLAG,
      ...SHOW_FLAGS,
    },
    details: [
      "claude     .claude/skills/ralph/SKILL.md, also as /ralph",
      "codex      .agents/skills/ralph/SKILL.md, also as $ralph",
      "copilot    .github/skills/ralph/SKILL.md",
      "gemini     .gemini/skills/ralph/SKILL.md",
      "agents     .agents/skills/ralph/SKILL.md, the place that most others read",
      "",
      "A file there that Ralph did not write is left as it is. `ralph mcp` is the other way.",
    ],
    load: () => import("./commands/skill.ts"),
  },
  {
    name: "mcp",
    summary: "serve the Model Context Protocol on standard input and output",
    usage: "",
    arity: [0, 0],
    flags: { ...ROOT_FLAG, ...SHOW_FLAGS },
    details: [
      "Its tools: status, plan, run, tell, report. A run that it started ends with it, in order; `ralph run` continues it.",
      "  claude mcp add ralph -- ralph mcp",
      "  codex mcp add ralph -- ralph mcp",
    ],
    load: () => import("./commands/mcp.ts"),
  },
  {
    name: "gate",
    summary: "judge the work without a run: as a CI step or a Stop hook",
    usage: "",
    arity: [0, 0],
    flags: {
      base: { type: "text", value: "COMMIT", summary: "judge what changed since (default: since the default branch)" },
      verify: {
        type: "text",
        value: "CMD",
        many: true,
        summary: "one more check (repeatable)",
      },
      ...CHECK_TIME_FLAG,
      ...SANDBOX_FLAGS,
      hook: {
        type: "boolean",
        summary: "answer as a Stop hook of Claude Code or Codex; releases the agent the third time",
      },
      ...LOOK_FLAGS,
    },
    details: [
      "What would be committed now is checked in a clean checkout, by the checks of ralph.config.json at the base, with the",
      "tests as they are and as they were. Exit code 0: it passes. Nothing is marked or committed.",
    ],
    load: () => import("./commands/gate.ts"),
  },
  {
    name: "worktrees",
    isProse: true,
    summary: "list the worktrees of `--parallel` that a killed run has left here, or remove them",
    usage: "[list|remove]",
    arity: [0, 1],
    flags: { ...DATA_FLAGS, ...ROOT_FLAG, ...pick(PLACE_FLAGS, "config"), ...SHOW_FLAGS },
    details: [
      "A run removes its own when it ends, and uses or removes those that a killed one left. What was being worked on in",
      "one is kept as a commit (`git log --all`, refs/ralph/work), and the next run continues with it.",
      "Only worktrees that Ralph has made for this project are touched.",
    ],
    load: () => import("./commands/worktrees.ts"),
  },
  {
    name: "clean",
    isProse: true,
    summary: "show what Ralph keeps of this project in the cache, in `.git` and in refs; remove it after a yes",
    usage: "[cache|aside|refs]",
    arity: [0, 1],
    flags: { ...CONSENT_FLAGS, ...REPORT_FLAGS, ...pick(PLACE_FLAGS, "root", "config", "workflow"), ...SHOW_FLAGS },
    details: [
      "cache: the clean checkout and a sandbox's packages, which are made again. aside (.git/ralph/aside): files that were",
      "in the way. refs: your uncommitted work as runs found it (refs/ralph/kept), commits of turns that rewrote history",
      "(lost), and work that `--retry-blocked` continues with (work); `git gc` frees their space afterwards. Each is named",
      "before the question. `--approve clean` is the yes beforehand; `--approve all` does not include it. Nothing is removed",
      "while a run is at work.",
    ],
    load: () => import("./commands/clean.ts"),
  },
  {
    name: "restore",
    summary: "restore the edits that a run reverted, or the state of a finished branch",
    usage: "[RUN] [PATH ...]",
    arity: [0, Number.MAX_SAFE_INTEGER],
    flags: {
      branch: { type: "text", value: "NAME", summary: "lay in the state that `ralph finish` took off this branch" },
      "dry-run": { type: "boolean", summary: "only show the edits, and where Ralph keeps them" },
      ...ROOT_FLAG,
      ...SHOW_FLAGS,
    },
    details: [
      "What judges a run (configuration, recipes, prompts, plans, state, git's hooks) is restored when a turn has changed",
      "it; what was found is kept in the run's folder. Without PATH: every file but those of the git directory. A state",
      "file is merged with what Ralph has written since; another file that has changed since is left as it is.",
    ],
    load: () => import("./commands/restore.ts"),
  },
  {
    name: "doctor",
    isProse: true,
    summary: "show what is missing on this machine, and how to get it",
    usage: "",
    arity: [0, 0],
    flags: { ...PROBE_FLAGS, ...SANDBOX_PROBE_FLAGS, ...LOOK_FLAGS },
    load: () => import("./commands/doctor.ts"),
  },
  {
    name: "recipes",
    isProse: true,
    insideRun: true,
    summary: "list the recipes and prompts that are built in",
    usage: "",
    arity: [0, 0],
    flags: { ...DATA_FLAGS, ...PLACE_FLAGS, ...SHOW_FLAGS },
    load: async () => ({ run: (await import("./commands/recipes_and_eject.ts")).recipes }),
  },
  {
    name: "run-recipe",
    summary: "run a recipe file; its own flags and arguments follow it",
    usage: "FILE [arguments]",
    arity: [1, 1],
    open: true,
    flags: RUN_FLAGS,
    details: ["The recipe's flags come after FILE, where `--help` shows them; Ralph's own may be anywhere."],
    load: () => import("./commands/run_recipe.ts"),
  },
  {
    name: "eject",
    summary: "write a built-in recipe or prompt to a file for editing; never overwrites",
    usage: "NAME",
    arity: [1, 1],
    flags: { ...PLACE_FLAGS, ...SHOW_FLAGS },
    load: async () => ({ run: (await import("./commands/recipes_and_eject.ts")).eject }),
  },
];

const INIT: Command = {
  name: "init",
  summary: "set up this project: agent, checks, workflow",
  usage: "",
  arity: [0, 0],
  flags: {
    ...pick(AGENT_FLAGS, "agent", "agent-cmd", "model", "reasoning", "endpoint", "timeout", "sandbox"),
    ...pick(LOOP_FLAGS, "verify"),
    "dry-run": { type: "boolean", summary: "only show the ralph.config.json that would be written" },
    ...CONSENT_FLAGS,
    ...pick(REPORT_FLAGS, "ui"),
    ...PLACE_FLAGS,
    ...SHOW_FLAGS,
  },
  details: [
    "In a terminal it offers the agents on PATH, finds the commands that check the project, runs them once where you agree,",
    "and shows the ralph.config.json that it would write. Flags answer its questions. Without a terminal it writes what the",
    "flags say, and lists what it found.",
  ],
  load: async () => ({ run: (await import("./commands/init_plan_run.ts")).init }),
};

/** Every command, in the order in which help shows them. */
export const COMMANDS: readonly Command[] = [
  INIT,
  ...DEFAULT_WORKFLOW.commands,
  ...SHARED,
  ...WORKFLOWS.filter((row) => row !== DEFAULT_WORKFLOW).flatMap(({ commands }) => commands),
  ...LOOKING,
  ...MACHINES,
  ...TOOLS,
  ...PRINTING,
];

/** The row of this name. */
export function findCommand(name: string): Command | undefined {
  return COMMANDS.find((command) => command.name === name);
}
