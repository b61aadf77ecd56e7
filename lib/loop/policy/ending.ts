import type { RalphContext } from "../../context/context.ts";
import type { Attempt, Settlement } from "../../backlog/types.ts";
import type { StoppedEarly } from "../run/outcome.ts";

/** The meaning of an attempt and its settlement for the run: its end, or `null` if it continues. */
export function endingOf(
  { events }: Pick<RalphContext, "events">,
  attempt: Attempt,
  settlement: Settlement,
): StoppedEarly | null {
  if (attempt.status === "trespassed") {
    events.emit({ type: "trespass", by: "agent", paths: attempt.paths, diff: attempt.diff });
    const reasons = [`wrote outside the allowed paths: ${attempt.paths.join(", ")}`];
    return { status: "failed", reason: "trespassed", reasons };
  }
  if (attempt.status === "agent-unusable") {
    return { status: "failed", reason: "agent-unusable", reasons: [attempt.message] };
  }
  if (attempt.status === "failed" && attempt.reason === "deleted-by-person") {
    return { status: "failed", reason: "stopped", reasons: [attempt.message] };
  }
  if (attempt.status === "interrupted") return endOfInterrupted(attempt);
  return settlement.status === "stop" ? stoppedBy(settlement) : null;
}

/** The end of a run whose backlog stops it. */
export function stoppedBy({ as, reason }: Extract<Settlement, { readonly status: "stop" }>): StoppedEarly {
  return as === "failed"
    ? { status: "failed", reason: "stopped", reasons: [reason] }
    : { status: "blocked", reasons: [reason] };
}

/**
 * How a run ends after an attempt that does not count: at a rate limit that is not waited for, at its own time, or by an
 * interrupt.
 */
function endOfInterrupted({ turn, verification }: Attempt): StoppedEarly {
  const review = verification?.results.find(({ halts }) => halts === "rate-limited");
  if (review !== undefined) return { status: "exhausted", limit: `rate limit: ${review.tail}` };
  if (turn?.end.reason !== "rate-limited") return { status: "aborted" };
  const { budget = "rate limit", message } = turn.end;
  return { status: "exhausted", limit: `${budget}: ${message}` };
}
