import type { Invocation } from "../../../cli/command.ts";
import { planWithGsd } from "./planning.ts";

/** `ralph discover [PHASE]`: GSD's research of a phase, with the agent in the terminal. */
export async function run(invocation: Invocation): Promise<number> {
  return await planWithGsd(invocation, "discover");
}
