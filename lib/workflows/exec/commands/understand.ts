import { understand } from "../understand/understand.ts";
import type { Invocation } from "../../../cli/command.ts";
import { endWith } from "../../../cli/end_with.ts";
import { openSession } from "../../../cli/session.ts";

/** `ralph understand`: the understanding loop. Typing it is the consent. */
export async function run(invocation: Invocation): Promise<number> {
  await using session = await openSession(invocation, { asks: false, gates: [] });
  return endWith(invocation, session.ralph, await understand(session.ralph), "ralph understand");
}
