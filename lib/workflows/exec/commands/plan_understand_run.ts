import type { Invocation } from "../../../cli/command.ts";
import { endWith } from "../../../cli/end_with.ts";
import { goalOf } from "../../../cli/goal.ts";
import { openSession } from "../../../cli/session.ts";
import { optional } from "../../../cli/settings.ts";
import type { Place } from "../../../cli/workspace.ts";

/** `ralph plan "<goal>"`: the planner alone. */
export async function planGoal(invocation: Invocation, place: Place): Promise<number> {
  const goal = await goalOf(invocation);
  await using session = await openSession(invocation, { asks: true, gates: ["prd"], place });
  const { plan } = await import("../plan/plan.ts");
  const planned = await plan(session.ralph, {
    goal,
    resume: invocation.flags.has("resume"),
    ...optional("base", invocation.flags.text("base")),
  });
  return endWith(invocation, session.ralph, planned, "ralph run");
}

/** `ralph understand`: the understanding loop. Typing it is the consent. */
export async function understandCode(invocation: Invocation): Promise<number> {
  await using session = await openSession(invocation, { asks: false, gates: [] });
  const { understand } = await import("../understand/understand.ts");
  return endWith(invocation, session.ralph, await understand(session.ralph), "ralph understand");
}

/** `ralph run`: the loop on the PRD. */
export async function runStories(invocation: Invocation, place: Place): Promise<number> {
  await using session = await openSession(invocation, { asks: false, gates: [], place });
  const { ralph } = session;
  const { runLoop } = await import("../../../loop/run/run_loop.ts");
  const { prdBacklog } = await import("../backlog.ts");
  return endWith(invocation, ralph, await runLoop(ralph, prdBacklog(ralph), { purpose: "run" }), "ralph run");
}
