import type { Invocation } from "../../cli/command.ts";
import { chosen } from "../chosen.ts";

/** `ralph run`: the loop of the workflow. Typing it is the consent. */
export async function run(invocation: Invocation): Promise<number> {
  const { place, workflow } = await chosen(invocation);
  return await workflow.run(invocation, place);
}
