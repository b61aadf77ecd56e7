import type { Invocation } from "../../cli/command.ts";
import { openLook } from "../../cli/look.ts";
import { showNext } from "../../cli/next_view.ts";
import { chosen } from "../chosen.ts";

/** `ralph next`: what the next iteration would take, and what would have to pass. */
export async function run(invocation: Invocation): Promise<number> {
  const { place, scope, workflow } = await chosen(invocation);
  return showNext(invocation, await workflow.next(await openLook(invocation, place, scope)));
}
