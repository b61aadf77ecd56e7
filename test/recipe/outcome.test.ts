import { describe, expect, test } from "vitest";
import { EXIT } from "../../lib/errors/ralph_error.ts";
import { exitCodeOf, isOutcome, type Outcome, type Status, stops } from "../../lib/recipe/outcome.ts";

/** Typed by the list of statuses: a new one does not compile until it has its row. */
const STOPS: Readonly<Record<Status, boolean>> = {
  approved: false,
  skipped: false,
  passed: false,
  unverified: true,
  declined: true,
  "handed-out": true,
  failed: true,
  exhausted: true,
  blocked: true,
  aborted: true,
};

describe("stops()", () => {
  test.each(Object.entries(STOPS))("a recipe with an outcome `%s` returns it: %s", (status, expected) => {
    const outcome = { status } as Outcome;

    expect([stops(outcome), isOutcome(outcome)]).toEqual([expected, true]);
  });

  test("an unverified step that was allowed goes on, and ends with 0", () => {
    const allowed = { status: "unverified", allowed: true } as const;

    expect([stops(allowed), exitCodeOf(allowed)]).toEqual([false, EXIT.done]);
    expect(stops({ ...allowed, allowed: false } as Outcome)).toBe(true);
  });

  test.each([undefined, "", "PASSED", "toString"])("a status of JavaScript's making, %j, does not go on", (status) => {
    const outcome = { status } as unknown as Outcome;

    expect([stops(outcome), isOutcome(outcome), exitCodeOf(outcome)]).toEqual([true, false, EXIT.failed]);
  });
});
