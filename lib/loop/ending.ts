import type { RalphContext } from "../context/context.ts";
import type { Attempt, Settlement } from "../backlog/types.ts";
import type { StoppedEarly } from "./outcome.ts";
import { endOfInterrupted } from "./interrupted.ts";

/** What an attempt and its settlement mean for the run: its end, or `null` where it continues. */
export function endingOf(
  { events }: Pick<RalphContext, "events">,
  attempt: Attempt,
  settlement: Settlement,
): StoppedEarly | null {
  if (attempt.status === "trespassed") {
    events.emit({ type: "text", title: "Written outside the allowed paths", lines: attempt.diff.split("\n") });
    const reasons = [`wrote outside the allowed paths: ${attempt.paths.join(", ")}`];
    return { status: "failed", reason: "trespassed", reasons };
  }
  if (attempt.status === "agent-unusable") {
    return { status: "failed", reason: "agent-unusable", reasons: [attempt.message] };
  }
  if (attempt.status === "interrupted") return endOfInterrupted(attempt);
  if (settlement.status !== "stop") return null;
  return settlement.as === "failed"
    ? { status: "failed", reason: "stopped", reasons: [settlement.reason] }
    : { status: "blocked", reasons: [settlement.reason] };
}
