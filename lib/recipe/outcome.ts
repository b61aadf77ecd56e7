/**
 * The outcome of a step, and the exit code that follows from it.
 *
 * @module
 */
import { EXIT } from "../errors/exit_codes.ts";

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
  switch (outcome.status) {
    case "approved":
    case "declined":
    case "skipped":
    case "handed-out":
    case "passed":
      return EXIT.done;
    case "unverified":
      return "allowed" in outcome && outcome.allowed === true ? EXIT.done : EXIT.failed;
    case "failed":
      return "reason" in outcome && outcome.reason === "agent-unusable" ? EXIT.agent : EXIT.failed;
    case "exhausted":
      return EXIT.failed;
    case "blocked":
      return EXIT.blocked;
    case "aborted":
      return EXIT.interrupted;
  }
}

/**
 * `true` if a recipe goes on after a step that ended so. A status without a row does not compile. `unverified` goes on
 * where it was allowed.
 */
const GOES_ON: Readonly<Record<Status, boolean>> = {
  approved: true,
  skipped: true,
  passed: true,
  unverified: false,
  declined: false,
  "handed-out": false,
  failed: false,
  exhausted: false,
  blocked: false,
  aborted: false,
};

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
  if (outcome.status === "unverified" && "allowed" in outcome && outcome.allowed === true) return false;
  return GOES_ON[outcome.status] !== true;
}

/** True for an object with one of the known statuses. */
export function isOutcome(value: unknown): value is Outcome {
  return typeof value === "object" && value !== null && "status" in value &&
    Object.hasOwn(GOES_ON, String(value.status));
}
