import { join } from "node:path";
import type { CommandLine } from "../../cli/command.ts";
import { AGENT_FLAGS, CONSENT_FLAGS, PLACE_FLAGS, REPORT_FLAGS, SHOW_FLAGS } from "../../cli/flags.ts";
import { GSD_RUNS, PLANNING_DIRECTORY } from "./paths.ts";
import type { WorkflowRow } from "../workflow.ts";

/** A phase as an argument: `3`, `02.1`, `12A`. */
const PHASE_REGEXP = /^\d+[A-Za-z]?(\.\d+)*$/;

const PLANNING_FLAGS = { ...CONSENT_FLAGS, ...AGENT_FLAGS, ...REPORT_FLAGS, ...PLACE_FLAGS, ...SHOW_FLAGS };

/** The plans of a GSD project. */
export const GSD: WorkflowRow = {
  name: "gsd",
  summary: "the plans of a GSD project (.planning/), each verified by the commands that it names",
  hint: "plans of .planning, as GSD writes them",
  start: "ralph run",
  state: PLANNING_DIRECTORY,
  async detect(root) {
    const { pathExists } = await import("../../host/path_facts.ts");
    return await pathExists(join(root, PLANNING_DIRECTORY));
  },
  claims: (line) => Promise.resolve(claimed(line)),
  runFlags: {
    loop: { type: "optional", value: "N", summary: "gsd: every plan, or at most N, without stopping for checkpoints" },
    plan: {
      type: "text",
      value: "PLAN",
      summary: "gsd: this plan alone (`01-02`), also one that the project has passed",
    },
  },
  help: { plan: "a phase, by GSD's own command", run: "the next plan, or all with `--loop`" },
  runs: () => Promise.resolve([GSD_RUNS]),
  resume: ({ name }) => Promise.resolve(name === "gsd" ? "ralph run --loop" : null),
  load: async () => (await import("./workflow.ts")).GSD_WORKFLOW,
  commands: [
    {
      name: "roadmap",
      summary: "gsd: make the roadmap, with the agent in the terminal",
      usage: "",
      arity: [0, 0],
      flags: PLANNING_FLAGS,
      load: async () => (await import("./commands/planning.ts")).ROADMAP,
    },
    {
      name: "discover",
      summary: "gsd: research a phase before it is planned, with the agent in the terminal",
      usage: "[PHASE]",
      arity: [0, 1],
      flags: PLANNING_FLAGS,
      load: async () => (await import("./commands/planning.ts")).DISCOVER,
    },
  ],
};

function claimed({ arguments: [first = ""], command, flags }: CommandLine): string | null {
  if (command.name === "run" && flags.has("loop")) return "`--loop`";
  if (command.name === "run" && flags.has("plan")) return "`--plan`";
  return command.name === "plan" && PHASE_REGEXP.test(first) ? `${first} is a phase` : null;
}
