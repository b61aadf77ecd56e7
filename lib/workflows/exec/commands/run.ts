import type { Invocation } from "../../../cli/command.ts";
import { endWith } from "../../../cli/end_with.ts";
import { openSession } from "../../../cli/session.ts";
import type { Place } from "../../../cli/workspace.ts";
import { runLoop } from "../../../loop/run_loop.ts";
import { prdBacklog } from "../backlog.ts";

/** `ralph run`: the loop on the PRD. */
export async function runStories(invocation: Invocation, place: Place): Promise<number> {
  await using session = await openSession(invocation, { asks: false, gates: [], place });
  const { ralph } = session;
  return endWith(invocation, ralph, await runLoop(ralph, prdBacklog(ralph), { purpose: "run" }), "ralph run");
}
