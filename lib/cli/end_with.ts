import type { RalphContext } from "../context.ts";
import { exitCodeOf, type Outcome } from "../steps/outcome.ts";
import type { Invocation } from "./command.ts";
import { styleFor } from "./show.ts";
import { type NextCommands, outcomeLines } from "./summary.ts";

/** Says how it ended and gives the exit code. What is no outcome, from a recipe, ends with 0 and says nothing. */
export function endWith(
  invocation: Invocation,
  { config }: Pick<RalphContext, "config">,
  outcome: unknown,
  next?: NextCommands & { readonly run: string },
): number {
  const exitCode = exitCodeOf(outcome);
  const { flags } = invocation;
  const json = flags.has("json") || (flags.text("ui") ?? config.ui) === "json";
  if (!json && typeof outcome === "object" && outcome !== null && "status" in outcome) {
    const goOn = next?.run ?? (invocation.command.name === "understand" ? "ralph understand" : "ralph run");
    for (const line of outcomeLines(outcome as Outcome, styleFor(invocation, "stderr"), goOn, next)) {
      invocation.say(line);
    }
  }
  return exitCode;
}
