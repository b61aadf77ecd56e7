import type { CommandLine, FlagTable } from "../../cli/command.ts";
import { text } from "../../cli/flags.ts";
import type { WorkflowRow } from "../workflow.ts";

const RUN_FLAGS: FlagTable = {
  tracker: text("NAME", "work off the issues of a tracker: github, linear or beads", {
    choices: ["github", "linear", "beads"],
    common: true,
  }),
  label: text("NAME", "the label of the issues that are meant (default: tracker.label)"),
  every: text("TIME", "keep going: look for new issues so often, `60s` or `5m`, until `ralph stop`"),
};

/** The issues of a tracker. */
export const TRACKERS: WorkflowRow = {
  name: "trackers",
  summary: "the issues of GitHub, Linear or beads that have a label, each claimed, verified and put up for review",
  hint: "issues of GitHub, Linear or beads",
  start: "ralph run --tracker github",
  state: "tracker.name in the configuration",
  detect: () => Promise.resolve(false),
  configured: ({ tracker: { name } }) => name !== null,
  claims: claimed,
  runFlags: RUN_FLAGS,
  help: { run: "the issues that have the label" },
  resume: ({ name, scope }) =>
    Promise.resolve(name === "issues" ? `ralph run --tracker ${scope?.split(" ")[0] ?? "github"}` : null),
  workflow: {
    init: { next: "`ralph run --tracker github`" },
    run: async (invocation, place) => await (await import("./commands/run.ts")).runIssues(invocation, place),
    status: async (look) => [await (await import("./commands/look.ts")).readStatus(look)],
    next: async (look) => await (await import("./commands/look.ts")).readNext(look),
    validate: () => Promise.resolve([]),
    verify: async (ralph) => await (await import("./commands/look.ts")).verifyPassed(ralph),
  },
  commands: [],
};

function claimed({ command, flags }: CommandLine): Promise<string | null> {
  const flag = command.name === "run" ? Object.keys(RUN_FLAGS).find((name) => flags.has(name)) : undefined;
  return Promise.resolve(flag === undefined ? null : `\`--${flag}\``);
}
