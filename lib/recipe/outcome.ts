/**
 * The outcome of a step, and the exit code that follows from it.
 *
 * @module
 */
import { EXIT } from "../errors/ralph_error.ts";

/** The closed list of ends. */
export type Status =
  | "approved"
  | "declined"
  | "skipped"
  | "handed-out"
  | "passed"
  | "unverified"
  | "failed"
  | "exhausted"
  | "blocked"
  | "aborted";

/** The end of a step or recipe: plain JSON, a union on `status`. */
export interface Outcome {
  readonly status: Status;
}

/**
 * The exit code of an outcome. `unverified` is 0 only where it was allowed (`allowed: true`), `failed` is 4 where the
 * agent could not be used (`reason: "agent-unusable"`). A value that is no outcome is 1: nothing says that the work is
 * done.
 *
 * @example From outcome to exit code
 * ```ts
 * import { exitCodeOf } from "ralph";
 *
 * console.log(exitCodeOf({ status: "passed" })); // 0
 * console.log(exitCodeOf({ status: "blocked" })); // 3
 * ```
 */
export function exitCodeOf(outcome: unknown): number {
  if (!isOutcome(outcome)) return EXIT.failed;
  if (isAllowed(outcome)) return EXIT.done;
  const isUnusable = outcome.status === "failed" && "reason" in outcome && outcome.reason === "agent-unusable";
  return isUnusable ? EXIT.agent : ENDS[outcome.status].exitCode;
}

/** The exit code of each status, and whether a recipe goes on after a step that ended so. A status without a row does not compile. */
const ENDS: Readonly<Record<Status, { readonly exitCode: number; readonly goesOn: boolean }>> = {
  approved: { exitCode: EXIT.done, goesOn: true },
  skipped: { exitCode: EXIT.done, goesOn: true },
  passed: { exitCode: EXIT.done, goesOn: true },
  unverified: { exitCode: EXIT.failed, goesOn: false },
  declined: { exitCode: EXIT.done, goesOn: false },
  "handed-out": { exitCode: EXIT.done, goesOn: false },
  failed: { exitCode: EXIT.failed, goesOn: false },
  exhausted: { exitCode: EXIT.failed, goesOn: false },
  blocked: { exitCode: EXIT.blocked, goesOn: false },
  aborted: { exitCode: EXIT.interrupted, goesOn: false },
};

function isAllowed(outcome: Outcome): boolean {
  return outcome.status === "unverified" && "allowed" in outcome && outcome.allowed === true;
}

/**
 * True if a recipe should return this outcome instead of continuing: the step failed, reached a limit, was stopped or
 * declined by a person, or ended unverified without permission.
 *
 * @example Continue only after a step that went well
 * ```ts
 * import { stops } from "ralph";
 *
 * console.log(stops({ status: "declined" }), stops({ status: "skipped" })); // true false
 * ```
 */
export function stops(outcome: Outcome): boolean {
  return !isAllowed(outcome) && ENDS[outcome.status]?.goesOn !== true;
}

/** True for an object with one of the known statuses. */
export function isOutcome(value: unknown): value is Outcome {
  return typeof value === "object" && value !== null && "status" in value &&
    Object.hasOwn(ENDS, String(value.status));
}
