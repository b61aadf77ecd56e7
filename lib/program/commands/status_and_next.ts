import type { Invocation } from "../../cli/command.ts";
import { openLook } from "../../cli/look.ts";
import { showNext } from "../../cli/next_view.ts";
import { chosen } from "../chosen.ts";
import { showStatus } from "../../cli/status_view.ts";
import { EXIT } from "../../errors/exit_codes.ts";

/** `ralph next`: what the next iteration would take, and what would have to pass. */
export async function next(invocation: Invocation): Promise<number> {
  const { place, scope, workflow } = await chosen(invocation);
  return showNext(invocation, await workflow.next(await openLook(invocation, place, scope)));
}

/** `ralph status`: the state of the work; starts nothing and changes nothing. */
export async function status(invocation: Invocation): Promise<number> {
  const { place, scope, workflow } = await chosen(invocation);
  const look = await openLook(invocation, place, scope);
  await showStatus(invocation, look, await workflow.status(look));
  return EXIT.done;
}
