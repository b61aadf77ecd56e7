import type { SprintStep } from "./types.ts";

/** A step with one of these statuses needs no turn any more. */
export const OVER: readonly string[] = ["completed", "skipped"];

/** Ends that other tools write: a person has to decide. */
export const STUCK: readonly string[] = ["failed", "blocked"];

/**
 * The first step in order that is not over; what failed or is blocked is one, unless another tool went on behind it.
 * Pure.
 */
export function firstOpen(steps: readonly SprintStep[]): SprintStep | null {
  const last = steps.findLastIndex(({ status }) => OVER.includes(status));
  return steps.find(({ status }, index) => !OVER.includes(status) && (!STUCK.includes(status) || index > last)) ?? null;
}
