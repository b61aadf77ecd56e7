import type { RalphContext } from "../context/context.ts";
import { exitCodeOf, type Outcome } from "../recipe/outcome.ts";
import type { Invocation } from "./command.ts";
import { styleFor } from "./show.ts";
import { outcomeLines } from "./summary.ts";

/**
 * Says how it ended and gives the exit code. What is no outcome, from a recipe, ends with 0 and says nothing.
 *
 * @param goOn the command that continues where a loop stopped; `null`: the same one
 */
export function endWith(
  invocation: Invocation,
  { config }: Pick<RalphContext, "config">,
  outcome: unknown,
  goOn: string | null,
): number {
  const exitCode = exitCodeOf(outcome);
  const { flags } = invocation;
  const json = flags.has("json") || (flags.text("ui") ?? config.ui) === "json";
  if (!json && typeof outcome === "object" && outcome !== null && "status" in outcome) {
    for (const line of outcomeLines(outcome as Outcome, styleFor(invocation, "stderr"), goOn)) invocation.say(line);
  }
  return exitCode;
}
