import { expect, test } from "vitest";
import { outcomeLines } from "../../lib/cli/end_with.ts";
import type { Outcome } from "../../lib/recipe/outcome.ts";
import { createStyle } from "../../lib/ui/text.ts";

const STYLE = createStyle({ colour: false, ascii: true });

function lines(
  outcome: Outcome & Readonly<Record<string, unknown>>,
  goOn: string | null = "ralph run",
): readonly string[] {
  return outcomeLines(outcome, STYLE, { resume: goOn }).slice(1);
}

test("outcomeLines() says why a plan failed and how it continues", () => {
  expect(lines({ status: "failed", reason: "invalid-prd", messages: ["the PRD has no stories", "raw"] })).toEqual([
    "x failed",
    "  the PRD has no stories",
    "hint: the same command continues",
  ]);
});

test("outcomeLines() names tests that fail as they were, and what failed before the first turn, also where all passed", () => {
  const passed = {
    status: "passed",
    iterations: 2,
    passed: ["US-001"],
    notices: [
      {
        kind: "old-tests",
        subject: "a.test.js",
        message: "with a.test.js (changed) as before the work, `npm test` fails\nnot ok 1",
      },
    ],
    failedBefore: ["npm test"],
  } as const;

  expect(lines(passed)).toEqual([
    "+ passed: 1 verified in 2 iterations",
    "  verified  US-001",
    "  already failing before Ralph started  npm test",
    "  old tests fail  a.test.js: with a.test.js (changed) as before the work, `npm test` fails",
  ]);
});

test("outcomeLines() says how what was interrupted at a question continues", () => {
  expect(lines({ status: "aborted" })).toEqual([
    "! aborted",
    "hint: the same command continues where this one stopped",
  ]);
});

test("outcomeLines() says that a trespass's files are left to the person", () => {
  const trespassed = { status: "failed", reason: "trespassed", iterations: 1, reasons: ["wrote: x.txt"] } as const;

  expect(lines(trespassed, "ralph understand")).toEqual([
    "x failed: 0 verified in 1 iteration",
    "  wrote: x.txt",
    "hint: the files are as the agent left them: revert what you do not want; `ralph understand` continues",
  ]);
});

test("outcomeLines() names the way back for what was parked in an earlier run", () => {
  expect(lines({ status: "blocked", iterations: 0, reasons: ["US-1: no"], parkedBefore: 1 })).toEqual([
    "x blocked: 0 verified in 0 iterations",
    "  US-1: no",
    "hint: fix the cause, then `ralph run --retry-blocked`",
  ]);
});

test("outcomeLines() gives the reason of a parked item once, and says how to go on where none is parked", () => {
  const parked = [{ id: "US-001", reason: "npm test: exit 1" }];
  const reasons = ["US-001: [ralph] attempt 3 blocked: npm test: exit 1"];

  expect(lines({ status: "blocked", iterations: 3, parked, reasons })).toEqual([
    "x blocked: 0 verified, 1 parked in 3 iterations",
    "  parked  US-001: npm test: exit 1",
    "hint: fix the cause, then `ralph run --retry-blocked`",
  ]);
  expect(lines({ status: "blocked", iterations: 1, reasons: ["no signal"] }).at(-1)).toBe(
    "hint: fix the cause, then `ralph run` continues",
  );
});

test("outcomeLines() says how a question is answered", () => {
  const asking = { id: "US-001", reason: "the agent is blocked: bcrypt or argon2?" };
  const failing = { id: "US-002", reason: "npm test: exit 1" };
  const answer = 'hint: answer with `ralph tell --item US-001 "…"`, then `ralph run`';

  const end = { status: "blocked", iterations: 2 } as const;
  expect(lines({ ...end, parked: [asking] }).slice(2)).toEqual([answer]);
  expect(lines({ ...end, parked: [{ ...asking, id: "#1" }] }).at(-1)).toContain("--item '#1' ");
  expect(lines({ ...end, parked: [failing, asking] }).slice(3)).toEqual([
    answer,
    "hint: fix the cause, then `ralph run --retry-blocked`",
  ]);
});

test("outcomeLines() counts nothing as verified where a review accepted what was verified before", () => {
  expect(lines({ status: "passed", iterations: 1, passed: [] })).toEqual(["+ passed: 1 iteration"]);
});

test("outcomeLines() names the checks that a recipe's last verify() found failing", () => {
  const failures = [{ name: "npm test", exitCode: 1 }, { name: "by hand", exitCode: null }];

  expect(lines({ status: "failed", results: [], failures })).toEqual([
    "x failed",
    "  npm test: exit 1",
    "  by hand: failed",
  ]);
});

test("outcomeLines() of a recipe continues by the same command", () => {
  const parked = [{ id: "a", reason: "no" }];

  expect(lines({ status: "blocked", iterations: 3, parked, reasons: [] }, null).at(-1)).toBe(
    "hint: fix the cause, then the same command with `--retry-blocked`",
  );
  expect(lines({ status: "exhausted", iterations: 3, limit: "3 iterations" }, null).at(-1)).toBe(
    "hint: `ralph status` shows the progress, `ralph report` what was done; the same command continues",
  );
});

test("outcomeLines() says what a run took, also where it began before the first commit and no base is known", () => {
  const usage = {
    inputTokens: 10,
    outputTokens: 5,
    costUsd: null,
    estimated: false,
    turns: 1,
    turnsWithoutTokens: 0,
    turnsWithoutCost: 1,
  };
  const passed = {
    status: "passed",
    iterations: 1,
    passed: ["US-001"],
    goal: "greet",
    startedAt: 1000,
    usage,
  } as const;

  expect(outcomeLines(passed, STYLE, { resume: null, now: 3000 }).slice(2)).toEqual([
    "  verified  US-001",
    "  goal      greet",
    "  used      2.0s, 15 tokens, cost unknown",
  ]);
});
