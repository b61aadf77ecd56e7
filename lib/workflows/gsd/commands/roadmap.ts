import type { Invocation } from "../../../cli/command.ts";
import { planWithGsd } from "./planning.ts";

/** `ralph roadmap`: GSD's roadmap, made with the agent in the terminal. */
export async function run(invocation: Invocation): Promise<number> {
  return await planWithGsd(invocation, "roadmap");
}
