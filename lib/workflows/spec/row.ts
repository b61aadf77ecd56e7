import type { Backlog } from "../../backlog/types.ts";
import type { Command, CommandLine, FlagTable } from "../../cli/command.ts";
import { ITERATION_FLAGS, LOOP_FLAGS, PLACE_FLAGS, SESSION_FLAGS, SHOW_FLAGS, text, toggle } from "../../cli/flags.ts";
import { PLAN_FILE } from "./types.ts";
import type { WorkflowRow } from "../workflow.ts";

const STATE_FLAGS: FlagTable = {
  json: toggle("print JSON on standard output (the default)"),
  text: toggle("print text for a reader"),
};

/** Commands that change the plan take these for printing the changes. */
const CHANGE_FLAGS: FlagTable = {
  json: toggle("print what has changed as JSON: the task, or a list of several"),
  text: toggle("print a line for each change (the default)"),
  ...PLACE_FLAGS,
  ...SHOW_FLAGS,
};

/** The loop; also what `ralph` alone is. */
const BUILD: Command = {
  name: "build",
  summary: "the staged loop on ralph/plan.jsonl: build, verify, investigate until COMPLETE",
  usage: "",
  arity: [0, 0],
  flags: { ...ITERATION_FLAGS, ...LOOP_FLAGS, ...SESSION_FLAGS },
  load: async () => ({ run: (await import("./commands/set_spec_plan_build.ts")).build }),
};

const COMMANDS: readonly Command[] = [
  BUILD,
  {
    name: "query",
    insideRun: true,
    summary: "the plan's state as JSON, or one part of it",
    usage: "[tasks|issues|stage|next]",
    arity: [0, 1],
    flags: {
      ...STATE_FLAGS,
      repair: toggle("resolve the conflict that git left in the plan, task by task"),
      ...PLACE_FLAGS,
      ...SHOW_FLAGS,
    },
    details: ["`ralph schema plan` describes the JSON."],
    load: async () => ({ run: (await import("./commands/look.ts")).query }),
  },
  {
    name: "task",
    insideRun: true,
    summary:
      "change the plan's tasks: add, done, accept, reject; each change is committed (inside of a turn: by Ralph, after its checks)",
    usage: "add|done|accept|reject [ID] [TEXT]",
    arity: [1, Infinity],
    flags: {
      notes: text("TEXT", "add: how to do it"),
      accept: text("TEXT", "add: how to verify it; Verify: `cmd` names a command"),
      deps: text("IDS", "add: tasks that must be done before, commas between", { many: true }),
      priority: text("LEVEL", "add: high, medium or low", { choices: ["high", "medium", "low"] }),
      parent: text("ID", "add: the task that this is a part of"),
      "created-from": text("ID", "add: the issue that this fixes"),
      supersedes: text("ID", "add: the task that this replaces; it is removed"),
      ...CHANGE_FLAGS,
    },
    details: [
      'ralph task add "what to do"   a name, a JSON object, or `-` for one of either a line from standard input',
      "ralph task done [ID]          mark as done; without ID the first that is ready",
      "ralph task accept             take all done tasks out of the plan: verified",
      'ralph task reject [ID] "why"  back to pending, with a tombstone; without ID the first done one',
    ],
    load: async () => ({ run: (await import("./commands/task_and_issue.ts")).task }),
  },
  {
    name: "issue",
    insideRun: true,
    summary: "change the plan's issues: add, done; each change is committed",
    usage: "add|done [ID|TEXT]",
    arity: [1, Infinity],
    flags: CHANGE_FLAGS,
    details: [
      'ralph issue add "what was found"  `-` reads one a line from standard input',
      "ralph issue done [ID]             remove it; without ID the first",
    ],
    load: async () => ({ run: (await import("./commands/task_and_issue.ts")).issue }),
  },
  {
    name: "set-spec",
    insideRun: true,
    summary: "make a spec the current one",
    usage: "FILE",
    arity: [1, 1],
    flags: CHANGE_FLAGS,
    load: async () => ({ run: (await import("./commands/set_spec_plan_build.ts")).setSpec }),
  },
  {
    name: "log",
    insideRun: true,
    summary: "what became of the plan's tasks, read from git alone",
    usage: "",
    arity: [0, 0],
    flags: {
      all: toggle("all tasks ever, on all branches (default: the last 20 on this one)"),
      spec: text("FILE", "only tasks of this spec"),
      branch: text("NAME", "only work done on this branch"),
      since: text("WHEN", "only what changed since a date or a commit"),
      json: toggle("print JSON, in a terminal too"),
      text: toggle("print the table, outside a terminal too"),
      ...PLACE_FLAGS,
      ...SHOW_FLAGS,
    },
    load: () => import("./commands/log.ts"),
  },
];

/** A spec becomes tasks. */
export const SPEC: WorkflowRow = {
  name: "spec",
  summary: "a spec becomes ralph/plan.jsonl; its tasks are built, verified and investigated until nothing is left",
  hint: "a specification becomes tasks with a history in git",
  start: "ralph plan SPEC.md",
  state: PLAN_FILE,
  claims,
  bare: BUILD,
  help: { plan: "the tasks of a spec, by one turn of the agent", run: "the plan, as `ralph build`" },
  schemas: { plan: async () => (await import("./schema.ts")).planJsonSchema() },
  resume: ({ name }) => Promise.resolve(name === "spec" ? "ralph build" : null),
  workflow: {
    init: {
      files: async (root) => await (await import("./find_spec.ts")).scaffoldSpec(root),
      next: "write a spec into ralph/specs, then `ralph plan SPEC.md`",
    },
    plan: async (invocation, place) =>
      await (await import("./commands/set_spec_plan_build.ts")).planFile(invocation, place),
    run: async (invocation) => await (await import("./commands/set_spec_plan_build.ts")).build(invocation),
    status: async (look) => [await (await import("./commands/look.ts")).readSpecStatus(look)],
    next: async (look) => await (await import("./commands/look.ts")).nextOfPlan(look),
    validate: async (validated) => [await (await import("./commands/look.ts")).validatePlanFile(validated)],
    backlog: async (ralph) => (await import("./backlog.ts")).specBacklog(ralph) as Backlog,
    verify: async (ralph) => await (await import("./commands/look.ts")).verifyTasks(ralph),
  },
  commands: COMMANDS,
};

/** `ralph plan` with a file that is there. */
async function claims({ arguments: [first = ""], command, host }: CommandLine, root: string): Promise<string | null> {
  const given = first.trim();
  if (command.name !== "plan" || !/^\S+\.md$/i.test(given)) return null;
  const { findSpec } = await import("./find_spec.ts");
  return await findSpec(root, given, host.environment.cwd) === null ? null : `${given} is a spec`;
}
