import type { Attempt } from "../../loop/types.ts";

/** How a run ends after an attempt that nobody counts: at a rate limit that is not waited for, or by an interrupt. */
export function endOfInterrupted(
  { turn, verification }: Attempt,
): { readonly status: "aborted" } | { readonly status: "exhausted"; readonly limit: string } {
  const review = verification?.results.find(({ halts }) => halts === "rate-limited");
  if (review !== undefined) return { status: "exhausted", limit: `rate limit: ${review.tail}` };
  return turn?.end.reason === "rate-limited"
    ? { status: "exhausted", limit: `rate limit: ${turn.end.message}` }
    : { status: "aborted" };
}
