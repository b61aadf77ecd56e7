import type { RalphContext } from "../context/context.ts";
import { exitCodeOf, isOutcome } from "../recipe/outcome.ts";
import type { Invocation } from "./command.ts";
import { styleFor } from "./show.ts";
import { outcomeLines } from "./summary.ts";

/**
 * Says how it ended and gives the exit code. A recipe that returns no outcome gets a warning: it forgot a `return`.
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
  if (!isOutcome(outcome)) {
    invocation.say("warning: the recipe returned no outcome, so that nothing says whether its work is done");
    invocation.say('hint: return what its last step returned, or `{ status: "passed" }`');
  } else if (!json) {
    for (const line of outcomeLines(outcome, styleFor(invocation, "stderr"), goOn)) invocation.say(line);
  }
  return exitCode;
}
