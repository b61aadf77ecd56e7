import { prdBacklog } from "../../backlogs/prd/backlog.ts";
import { runLoop } from "../../steps/run_loop.ts";
import type { Invocation } from "../command.ts";
import { featureArgument } from "../feature/feature_argument.ts";
import { endWith } from "../end_with.ts";
import { usage } from "../parse.ts";
import { findPlace } from "../place.ts";
import { openSession } from "../session.ts";

/** `ralph run`: the loop on the PRD. Typing it is the consent. */
export async function run(invocation: Invocation): Promise<number> {
  const feature = await featureArgument(invocation);
  if (feature !== null) return await (await import("../feature/run.ts")).runFeature(invocation, feature);
  if ((await findPlace(invocation)).workflow.name === "spec") {
    throw usage("`ralph run` works on a PRD, and the workflow here is spec", "did you mean `ralph build`?");
  }
  await using session = await openSession(invocation, { asks: false, gates: [] });
  const { ralph } = session;
  return endWith(invocation, ralph, await runLoop(ralph, prdBacklog(ralph), { purpose: "run" }));
}
