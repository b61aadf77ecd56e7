import type { Attempt } from "../backlog/types.ts";

/**
 * How a run ends after an attempt that nobody counts: at a rate limit that is not waited for, at its own time, or by an
 * interrupt.
 */
export function endOfInterrupted(
  { turn, verification }: Attempt,
): { readonly status: "aborted" } | { readonly status: "exhausted"; readonly limit: string } {
  const review = verification?.results.find(({ halts }) => halts === "rate-limited");
  if (review !== undefined) return { status: "exhausted", limit: `rate limit: ${review.tail}` };
  if (turn?.end.reason !== "rate-limited") return { status: "aborted" };
  const { budget = "rate limit", message } = turn.end;
  return { status: "exhausted", limit: `${budget}: ${message}` };
}
