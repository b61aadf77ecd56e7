import { prdBacklog } from "../../workflows/exec/backlog.ts";
import { runLoop } from "../../loop/run_loop.ts";
import type { Invocation } from "../../cli/command.ts";
import { featureArgument } from "../../workflows/feature/commands/argument.ts";
import { endWith } from "../../cli/end_with.ts";
import { usage } from "../../cli/parse.ts";
import type { Place } from "../../cli/workspace.ts";
import { openSession } from "../../cli/session.ts";

/** The loop of workflows that have a command of their own for it. */
const INSTEAD: Readonly<Partial<Record<string, string>>> = { spec: "ralph build", sprint: "ralph sprint run DIR" };

/** `ralph run`: the loop on the PRD, or on the plans of GSD. Typing it is the consent. */
export async function run(invocation: Invocation): Promise<number> {
  const { place, feature } = await featureArgument(invocation);
  if (feature !== null) {
    return await (await import("../../workflows/feature/commands/run.ts")).runFeature(invocation, feature);
  }
  if (place.workflow.name === "gsd") {
    return await (await import("../../workflows/gsd/commands/run.ts")).runGsd(invocation, place);
  }
  const instead = INSTEAD[place.workflow.name];
  if (instead !== undefined) {
    throw usage(
      `\`ralph run\` works on a PRD, and the workflow here is ${place.workflow.name}`,
      `did you mean \`${instead}\`?`,
    );
  }
  refuseGsdFlags(invocation, place);
  await using session = await openSession(invocation, { asks: false, gates: [] });
  const { ralph } = session;
  return endWith(invocation, ralph, await runLoop(ralph, prdBacklog(ralph), { purpose: "run" }));
}

/** `--loop` and `--plan` with a workflow that was asked for and has no plans. */
function refuseGsdFlags({ flags }: Invocation, { workflow: { name, why } }: Place): void {
  for (const flag of ["loop", "plan"]) {
    if (!flags.has(flag)) continue;
    const cap = flags.text(flag) ?? "";
    const instead = flag === "loop" && cap !== "" ? `\`--max-iterations ${cap}\`, or ` : "";
    throw usage(`--${flag} belongs to the workflow gsd, not ${name} (${why})`, `${instead}\`--workflow gsd\``);
  }
}
