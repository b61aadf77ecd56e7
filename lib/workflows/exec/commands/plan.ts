import type { Invocation } from "../../../cli/command.ts";
import { endWith } from "../../../cli/end_with.ts";
import { goalOf } from "../../../cli/goal.ts";
import { openSession } from "../../../cli/session.ts";
import type { Place } from "../../../cli/workspace.ts";
import { plan } from "../plan/plan.ts";

/** `ralph plan "<goal>"`: the planner alone. */
export async function planGoal(invocation: Invocation, place: Place): Promise<number> {
  const goal = await goalOf(invocation);
  await using session = await openSession(invocation, { asks: true, gates: ["prd"], place });
  const planned = await plan(session.ralph, { goal, resume: invocation.flags.has("resume") });
  return endWith(invocation, session.ralph, planned, "ralph run");
}
