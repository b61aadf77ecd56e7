/**
 * The command table: each workflow's own commands, and those that hold for every workflow. Importing it loads no
 * command: `load` does.
 *
 * @module
 */
import type { Command } from "../cli/command.ts";
import * as flags from "../cli/flags.ts";
import { DEFAULT_WORKFLOW, WORKFLOWS } from "../workflows/table.ts";
import type { WorkflowRow } from "../workflows/workflow.ts";
import { type Row, TOOLS } from "./tool_commands.ts";

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

const SHARED: readonly Row[] = [
  {
    name: "plan",
    group: "work",
    summary: "plan a goal, a spec or a phase",
    usage: '"<goal>"|SPEC.md|PHASE',
    arity: [0, 1],
    flags: { ...flags.PLAN_FLAGS, ...flags.SESSION_FLAGS },
    details: inEach("plan"),
    load: async () => ({ run: (await import("./commands/init_plan_run.ts")).plan }),
  },
  {
    name: "run",
    group: "work",
    summary: "work on what is planned until all of it is verified",
    usage: scopesOf(WORKFLOWS.filter(({ help }) => help?.run !== undefined)),
    flags: {
      ...Object.assign({}, ...WORKFLOWS.map(({ runFlags }) => runFlags)),
      "dry-run": flags.toggle("show what would come first; starts no agent and no check, writes nothing", {
        common: true,
      }),
      ...flags.RUN_FLAGS,
    },
    details: inEach("run"),
    load: async () => ({ run: (await import("./commands/init_plan_run.ts")).run }),
  },
];

/** A row that looks at a workflow's work has this in common with the others. */
const LOOK = { isProse: true, insideRun: true, usage: SCOPE, flags: flags.WORK_FLAGS };

/** A row that says something to a run at work. */
const STEER = { group: "steer", usage: "[RUN]", flags: flags.ROOT_FLAG };

const LOOKING: readonly Row[] = [
  {
    name: "verify",
    group: "look",
    summary: "run the checks of the work; starts no agent",
    usage: SCOPE,
    flags: {
      ...flags.pick(flags.LOOP_FLAGS, "verify", "allow-unverified"),
      ...flags.CHECK_TIME_FLAG,
      ...flags.SANDBOX_FLAGS,
      ...flags.WORK_FLAGS,
    },
    load: async () => ({ run: (await import("./commands/verify_and_validate.ts")).verify }),
  },
  {
    ...LOOK,
    name: "next",
    group: "look",
    summary: "show the item that the next iteration would take",
    load: async () => ({ run: (await import("./commands/status_and_next.ts")).next }),
  },
  {
    ...LOOK,
    name: "validate",
    group: "look",
    summary: "check the configuration and the state files, all problems at once",
    load: async () => ({ run: (await import("./commands/verify_and_validate.ts")).validate }),
  },
  {
    ...LOOK,
    name: "status",
    group: "work",
    summary: "show the state of the work: done, open, next",
    load: async () => ({ run: (await import("./commands/status_and_next.ts")).status }),
  },
  {
    name: "watch",
    group: "watch",
    insideRun: true,
    summary: "the live view of a run, in another terminal",
    usage: "[RUN]",
    flags: { json: flags.toggle("print its events as NDJSON on standard output, as they come"), ...flags.ROOT_FLAG },
    details: ["Without RUN: the newest run at work. It ends with the run; Ctrl-C leaves the run alone."],
    load: async () => ({ run: (await import("./commands/watch_and_steer.ts")).watch }),
  },
  {
    name: "ui",
    group: "watch",
    summary: "a page in the browser that shows the runs and changes them",
    flags: {
      port: flags.text("N", "the port (default: one that is free)"),
      open: flags.toggle("open it in the browser"),
      root: flags.text("DIR", "a project's folder (repeatable; default: this one)", { many: true }),
    },
    details: [
      "It prints its address, on this machine alone and with a token in it: who has it can answer, pause and stop.",
    ],
    load: () => import("./commands/ui.ts"),
  },
  {
    ...STEER,
    name: "pause",
    summary: "let a run wait after its present turn",
    load: async () => ({ run: (await import("./commands/watch_and_steer.ts")).pause }),
  },
  {
    ...STEER,
    name: "resume",
    summary: "let a paused run continue",
    load: async () => ({ run: (await import("./commands/watch_and_steer.ts")).resume }),
  },
  {
    ...STEER,
    name: "stop",
    summary: "end a run after its present turn",
    flags: { now: flags.toggle("end it at once, as Ctrl-C does; the turn is taken again later"), ...flags.ROOT_FLAG },
    load: async () => ({ run: (await import("./commands/watch_and_steer.ts")).stop }),
  },
  {
    name: "tell",
    group: "steer",
    summary: "say something to a run: it goes into the next prompt",
    usage: '"TEXT"',
    flags: {
      item: flags.text("ID", "into the prompts for this item alone"),
      run: flags.text("RUN", "to this run (default: the newest one at work)"),
      ...flags.ROOT_FLAG,
    },
    details: [
      "It is under its own heading there, and in the report. What has to pass does not change. An item that was given",
      "up on is taken up again with it: in this run, or in the next one if it has ended.",
    ],
    load: async () => ({ run: (await import("./commands/watch_and_steer.ts")).tell }),
  },
  {
    name: "finish",
    group: "work",
    summary: "open a pull request for the branch, or merge it; asks first",
    flags: {
      merge: flags.toggle("merge into the base in this repository; nothing is pushed"),
      squash: flags.toggle("merge as one commit"),
      "clean-history": flags.toggle(
        "one commit an item, without the run's state; only what Ralph made is written anew",
      ),
      "with-history": flags.toggle("push what refs/ralph/archive keeps of the branch also"),
      draft: flags.toggle("make the request a draft"),
      base: flags.text("BRANCH", "the branch that the work goes to (default: the default branch)"),
      "dry-run": flags.toggle("show what would be done, and the request's text; do nothing"),
      ...flags.CONSENT_FLAGS,
      ...flags.REPORT_FLAGS,
      ...flags.pick(flags.PLACE_FLAGS, "root", "config", "workflow"),
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
    group: "watch",
    insideRun: true,
    summary: "show what a run did, as Markdown, HTML or JSON",
    usage: "[RUN]",
    flags: {
      for: flags.text("READER", "review: what the request of `ralph finish` says, as Markdown", {
        choices: ["review"],
      }),
      ...flags.OUTPUT_FLAGS,
      ...flags.ROOT_FLAG,
    },
    details: [
      "RUN is a run's id, the path of its folder, or of a folder that holds runs.",
      "Without it: the newest run below the root, whatever its workflow. The HTML is one file that asks for nothing from",
      "outside; `ralph schema report` describes the JSON.",
    ],
    load: async () => ({ run: (await import("./commands/past_runs.ts")).report }),
  },
];

const INIT: Row = {
  name: "init",
  group: "start",
  summary: "set up this project: agent and checks",
  flags: {
    ...flags.pick(flags.AGENT_FLAGS, "agent", "agent-cmd", "model", "reasoning", "endpoint", "timeout", "sandbox"),
    ...flags.pick(flags.LOOP_FLAGS, "verify"),
    "dry-run": flags.toggle("only show the ralph.config.json that would be written"),
    ...flags.CONSENT_FLAGS,
    ...flags.pick(flags.REPORT_FLAGS, "ui"),
    ...flags.PLACE_FLAGS,
  },
  details: [
    "In a terminal one screen shows the agent and the checks that it found; a key changes them. After the yes it tries the",
    "checks once. Without a terminal it writes the flags and the checks that it found, and no agent.",
  ],
  load: async () => ({ run: (await import("./commands/init_plan_run.ts")).init }),
};

/** Every command, in the order in which help shows them. */
export const COMMANDS: readonly Command[] = [
  ...ownOf(DEFAULT_WORKFLOW),
  ...shown(INIT, ...SHARED),
  ...WORKFLOWS.filter((row) => row !== DEFAULT_WORKFLOW).flatMap(ownOf),
  ...shown(...LOOKING, ...TOOLS),
];

/** A workflow's own commands are a group, but for those that begin anything. */
function ownOf({ name, commands }: WorkflowRow): readonly Command[] {
  return commands.map((command) => ({ group: `the workflow ${name}`, ...command }));
}

function shown(...rows: readonly Row[]): readonly Command[] {
  return rows.map((row) => ({ ...row, flags: { ...row.flags, ...flags.SHOW_FLAGS } }));
}

/** The row of this name. */
export function findCommand(name: string): Command | undefined {
  return COMMANDS.find((command) => command.name === name);
}
