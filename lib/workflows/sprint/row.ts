import { join, resolve } from "node:path";
import type { Command } from "../../cli/command.ts";
import { ITERATION_FLAGS, LOOK_FLAGS, LOOP_FLAGS, SESSION_FLAGS, text, toggle } from "../../cli/flags.ts";
import type { WorkflowRow } from "../workflow.ts";

const SPRINTS = ".claude/sprints";

/** Iterations follow each other: nothing of a sprint is worked on at once. */
const { parallel: _, queue: _queue, "any-order": _order, ...SPRINT_FLAGS } = LOOP_FLAGS;

const COMMANDS: readonly Command[] = [
  {
    name: "sprint",
    isProse: true,
    insideRun: ["status"],
    summary: "the goal or the phases in DIR/SPRINT.yaml, with hooks for each iteration",
    usage: "compile|run|status [DIR]",
    arity: [1, 2],
    flags: {
      force: toggle("compile: begin anew; the old PROGRESS.yaml and transcripts go into the sprint's logs"),
      ...ITERATION_FLAGS,
      ...SPRINT_FLAGS,
      ...SESSION_FLAGS,
    },
    details: [
      "ralph sprint compile DIR   SPRINT.yaml and its workflow become PROGRESS.yaml",
      "ralph sprint run DIR       the loop; compiles where there is no PROGRESS.yaml",
      "ralph sprint status DIR    steps, hooks and counters",
      "",
      "Without DIR: the only sprint below .claude/sprints.",
    ],
    load: () => import("./commands/sprint.ts"),
  },
  {
    name: "step",
    isProse: true,
    insideRun: true,
    summary: "change or show the steps of a sprint; agents run it in their turn",
    usage: "add|done|list [TEXT|ID]",
    arity: [1, 2],
    flags: {
      sprint: text("DIR", "the sprint's folder (default: the only one below .claude/sprints)", {
        variable: "RALPH_SPRINT",
      }),
      ...LOOK_FLAGS,
    },
    details: [
      'ralph step add "what to do"   prints the new step\'s id; `-` reads the text from standard input',
      "ralph step done [ID]          completes one step; without ID the one in progress, else the first pending",
      "ralph step list               all steps",
    ],
    load: async () => ({ run: (await import("./commands/sprint.ts")).stepCommand }),
  },
];

/** A free loop over a goal, or phases in order. */
export const SPRINT: WorkflowRow = {
  name: "sprint",
  summary: "the goal or the phases of a SPRINT.yaml, with hooks that run with each iteration",
  hint: "a goal or phases, free steps, hooks around each iteration",
  start: "ralph sprint run DIR",
  scope: "DIR",
  help: { plan: "PROGRESS.yaml, as `ralph sprint compile DIR`", run: "the sprint in DIR, as `ralph sprint run`" },
  claims: async ({ arguments: [folder], host }) =>
    folder !== undefined && await isSprint(host.environment.cwd, folder) ? `${folder} has a SPRINT.yaml` : null,
  state: SPRINTS,
  variable: ["RALPH_SPRINT", "the sprint's folder"],
  async runs(root) {
    const { listDirectory } = await import("../../host/files.ts");
    return (await listDirectory(join(root, SPRINTS))).map((name) => `${SPRINTS}/${name}/logs`);
  },
  resume: ({ name, scope, folder }) =>
    Promise.resolve(name === "sprint" ? `ralph sprint run ${scope ?? join(folder, "../..")}` : null),
  workflow: {
    init: {
      files: async (root) => await (await import("./paths.ts")).scaffoldSprint(root),
      next: "write the goal into SPRINT.yaml, then `ralph sprint run DIR`",
    },
    async plan(invocation) {
      const { arguments: [folder], host: { environment } } = invocation;
      if (folder !== undefined && !await isSprint(environment.cwd, folder)) return null; // a goal
      const { run } = await import("./commands/sprint.ts");
      return await run({ ...invocation, arguments: ["compile", ...invocation.arguments] });
    },
    run: async (invocation) =>
      await (await import("./commands/sprint.ts")).run({ ...invocation, arguments: ["run", ...invocation.arguments] }),
    status: async (look) => [await (await import("./commands/look.ts")).readSprints(look)],
    next: async (look) => await (await import("./commands/look.ts")).nextOfSprint(look),
    validate: async (validated) => await (await import("./commands/look.ts")).validateSprints(validated),
    verify: async (ralph, scope) => await (await import("./commands/look.ts")).verifySprint(ralph, scope),
  },
  commands: COMMANDS,
};

async function isSprint(cwd: string, folder: string): Promise<boolean> {
  const { pathExists } = await import("../../host/path_facts.ts");
  return await pathExists(resolve(cwd, folder, "SPRINT.yaml"));
}
