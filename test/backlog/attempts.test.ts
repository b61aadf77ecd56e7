import { describe, expect, test } from "vitest";
import { failureOf, fingerprintOf, isParked, reasonOf } from "../../lib/backlog/attempts.ts";
import type { Attempt } from "../../lib/backlog/types.ts";

const BASE = { id: "r.1", number: 2, claim: null, turn: null, verification: null } as const;
const FAILED: Attempt = { ...BASE, status: "failed", reason: "checks-failed", message: "test: exit 1" };
const TRESPASSED: Attempt = { ...BASE, status: "trespassed", paths: ["a", "b"], diff: "" };
const INTERRUPTED: Attempt = { ...BASE, status: "interrupted" };

describe("reasonOf()", () => {
  test.each([
    [FAILED, "test: exit 1"],
    [TRESPASSED, "wrote outside the allowed paths: a, b"],
    [INTERRUPTED, "interrupted"],
  ])("says why $status", (attempt, reason) => {
    expect(reasonOf(attempt)).toBe(reason);
  });
});

describe("failureOf()", () => {
  test.each([
    [null, "Nothing: this is the first attempt."],
    [FAILED, "Attempt 2 failed: test: exit 1"],
    [INTERRUPTED, expect.stringContaining("ended without a verdict")],
  ])("tells the next prompt what happened", (previous, text) => {
    expect(failureOf(previous)).toEqual(text);
  });
});

describe("isParked()", () => {
  const parked = [{ id: "a", fingerprint: fingerprintOf(["old"]), reason: "" }, {
    id: "b",
    fingerprint: null,
    reason: "",
  }];

  test("an item that asks for something else is open again", () => {
    expect(isParked({ id: "a", fingerprint: fingerprintOf(["old"]) }, parked)).toBe(true);
    expect(isParked({ id: "a", fingerprint: fingerprintOf(["new"]) }, parked)).toBe(false);
  });

  test("an item without a fingerprint is known by its id", () => {
    expect(isParked({ id: "b" }, parked)).toBe(true);
    expect(isParked({ id: "a" }, parked)).toBe(false);
  });
});

test("fingerprintOf() stays as the journals of earlier versions have it", () => {
  expect([fingerprintOf("prompt"), fingerprintOf(["prompt"])]).toEqual(["cf07194ee232eb53", "d651a3aba26225d5"]);
});
