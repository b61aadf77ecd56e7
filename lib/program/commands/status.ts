import type { Invocation } from "../../cli/command.ts";
import { openLook } from "../../cli/look.ts";
import { showStatus } from "../../cli/status_view.ts";
import { EXIT } from "../../errors/exit_codes.ts";
import { chosen } from "../chosen.ts";

/** `ralph status`: where things stand; starts nothing and changes nothing. */
export async function run(invocation: Invocation): Promise<number> {
  const { place, scope, workflow } = await chosen(invocation);
  const look = await openLook(invocation, place, scope);
  await showStatus(invocation, look, await workflow.status(look));
  return EXIT.done;
}
