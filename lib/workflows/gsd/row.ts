import type { Backlog } from "../../backlog/types.ts";
import type { CommandLine } from "../../cli/command.ts";
import { LOOK_FLAGS, SESSION_FLAGS, text } from "../../cli/flags.ts";
import { CHECK_FORM, PLANNING_DIRECTORY } from "./types.ts";
import type { WorkflowRow } from "../workflow.ts";

/** The plans of a GSD project. */
export const GSD: WorkflowRow = {
  name: "gsd",
  summary: "the plans of a GSD project (.planning/), each verified by the commands that it names",
  hint: "plans of .planning, as GSD writes them",
  start: "ralph run",
  state: PLANNING_DIRECTORY,
  claims: claimed,
  runFlags: {
    loop: {
      type: "optional",
      value: "N",
      summary: "gsd: every plan, or at most N, without stopping for checkpoints",
      common: true,
    },
    plan: text("PLAN", "gsd: this plan alone (`01-02`), also one that the project has passed"),
  },
  help: { plan: "a phase, by GSD's own command", run: "the next plan, or all with `--loop`" },
  resume: ({ name }) => Promise.resolve(name === "gsd" ? "ralph run --loop" : null),
  workflow: {
    init: async (invocation) => await (await import("./commands/planning.ts")).planWithGsd(invocation, "init"),
    plan: async (invocation) => await (await import("./commands/planning.ts")).planWithGsd(invocation, "plan"),
    run: async (invocation, place) => await (await import("./commands/planning.ts")).runGsd(invocation, place),
    status: async (look) => [await (await import("./commands/look.ts")).readGsdStatus(look)],
    next: async (look) => await (await import("./commands/look.ts")).nextPlan(look),
    validate: async (validated) => await (await import("./commands/look.ts")).validatePlanning(validated),
    checkForm: CHECK_FORM,
    backlog: async (ralph) => (await import("./backlog.ts")).gsdBacklog(ralph) as Backlog,
    verify: async (ralph) => await (await import("./commands/look.ts")).verifyPlans(ralph),
    examine: async (place, host) => await (await import("./commands/finding.ts")).gsdFinding(place, host),
  },
  commands: [
    {
      name: "roadmap",
      summary: "gsd: make the roadmap, with the agent in the terminal",
      usage: "",
      arity: [0, 0],
      flags: SESSION_FLAGS,
      load: async () => (await import("./commands/planning.ts")).ROADMAP,
    },
    {
      name: "discover",
      summary: "gsd: research a phase before it is planned, with the agent in the terminal",
      usage: "[PHASE]",
      arity: [0, 1],
      flags: SESSION_FLAGS,
      load: async () => (await import("./commands/planning.ts")).DISCOVER,
    },
    {
      name: "check",
      isProse: true,
      insideRun: true,
      summary: "gsd: run the commands of one task of a plan; agents run it after each task",
      usage: "TASK",
      arity: [1, 1],
      flags: { plan: text("PLAN", "the plan (default: the one of this turn, else the next one)"), ...LOOK_FLAGS },
      load: () => import("./commands/check.ts"),
    },
  ],
};

async function claimed({ arguments: [first = ""], command, flags }: CommandLine): Promise<string | null> {
  if (command.name === "run" && flags.has("loop")) return "`--loop`";
  if (command.name === "run" && flags.has("plan")) return "`--plan`";
  if (command.name !== "plan") return null;
  const { isNumber } = await import("./numbers.ts");
  return isNumber(first) ? `${first} is a phase` : null;
}
