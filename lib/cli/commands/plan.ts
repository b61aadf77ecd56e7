import { plan } from "../../steps/plan.ts";
import type { Invocation } from "../command.ts";
import { endWith } from "../end_with.ts";
import { goalOf } from "../goal.ts";
import { findPlace } from "../place.ts";
import { openSession } from "../session.ts";

/** `ralph plan "<goal>"`: the planner alone. */
export async function run(invocation: Invocation): Promise<number> {
  if ((await findPlace(invocation)).workflow.name === "gsd") {
    return await (await import("../gsd_planning.ts")).planWithGsd(invocation, "plan");
  }
  const goal = await goalOf(invocation);
  await using session = await openSession(invocation, { asks: true, gates: ["prd"] });
  return endWith(invocation, session.ralph, await plan(session.ralph, { goal, resume: invocation.flags.has("resume") }));
}
