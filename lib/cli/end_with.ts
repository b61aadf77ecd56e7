import type { RalphContext } from "../context.ts";
import { exitCodeOf, type Outcome } from "../steps/outcome.ts";
import type { Invocation } from "./command.ts";
import { styleFor } from "./show.ts";
import { outcomeLines } from "./summary.ts";

/** The command that goes on, where it is not `ralph run`. */
const AGAIN: Readonly<Record<string, string>> = { build: "ralph build" };

/** Says how it ended and gives the exit code. What is no outcome, from a recipe, ends with 0 and says nothing. */
export function endWith(invocation: Invocation, { config }: Pick<RalphContext, "config">, outcome: unknown): number {
  const exitCode = exitCodeOf(outcome);
  const { flags } = invocation;
  const json = flags.has("json") || (flags.text("ui") ?? config.ui) === "json";
  if (!json && typeof outcome === "object" && outcome !== null && "status" in outcome) {
    const lines = outcomeLines(outcome as Outcome, styleFor(invocation, "stderr"), AGAIN[invocation.command.name]);
    for (const line of lines) invocation.say(line);
  }
  return exitCode;
}
