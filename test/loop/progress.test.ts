import { describe, expect, test } from "vitest";
import { defaultConfig } from "../../lib/config/defaults.ts";
import { sameFailures } from "../../lib/loop/policy/attempts.ts";
import {
  advance,
  limitReached,
  newProgress,
  type Progress,
  timeBudget,
  workingTime,
} from "../../lib/loop/policy/progress.ts";
import type { Attempt, Item, TurnRecord } from "../../lib/backlog/types.ts";

const ITEM: Item = { id: "a", kind: "task", title: "a", data: null };
const LIMITS = defaultConfig().limits;

function turn(
  changedFiles: readonly string[],
  costUsd: number | null = null,
  tokens: number | null = null,
): TurnRecord {
  const usage = {
    inputTokens: tokens,
    outputTokens: null,
    cachedTokens: null,
    reasoningTokens: null,
    costUsd,
    estimated: false,
  };
  return { end: { reason: "completed" }, usage, transcript: "t", durationMs: 1, changedFiles, base: null, head: null };
}

function attempt(status: "verified" | "failed", record: TurnRecord | null, message = "exit 1"): Attempt {
  const known = { id: "r.1", number: 1, claim: null, turn: record, verification: null };
  return status === "verified" ? { ...known, status } : { ...known, status, reason: "checks-failed", message };
}

test("pauses count towards no time limit: neither the run's, nor a turn's that waits", () => {
  const paused = { host: { clock: { steady: () => 10 * 60_000 } }, steering: { pausedMs: () => 9 * 60_000 } };
  const limits = { ...LIMITS, minutes: 2 };

  const now = workingTime(paused as unknown as Parameters<typeof workingTime>[0]);

  expect(limitReached(newProgress(0), limits, now)).toBeNull();
  expect(timeBudget(newProgress(0), limits, paused.steering.pausedMs())?.endsAt).toBe(11 * 60_000);
});

describe("limitReached()", () => {
  const start = { ...newProgress(0), turns: 3, tokens: 100, costUsd: 1.5, idleTurns: 2 };
  test.each([
    ["iterations", { iterations: 3 }, "3 iterations"],
    ["minutes", { minutes: 1 }, "1 minute"],
    ["tokens", { tokens: 100 }, "100 of 100 tokens"],
    ["money", { costUsd: 1.5 }, "1.50 of 1.5 USD"],
    ["no progress", { idle: 2 }, "2 turns without a change"],
    ["nothing", { iterations: 4, minutes: 2, tokens: 101, costUsd: 2 }, null],
  ])("%s", (_name, limits, expected) => {
    expect(limitReached(start, { ...LIMITS, ...limits }, 60_000)).toBe(expected);
  });

  test("tokens and money that no agent told of are unknown and reach no limit", () => {
    expect(limitReached(newProgress(0), { ...LIMITS, tokens: 1, costUsd: 0.01 }, 0)).toBeNull();
  });
});

describe("advance()", () => {
  test("adds up what is known and leaves unknown what is not", () => {
    const first = advance(newProgress(0), ITEM, attempt("failed", turn([], null, 5)), { status: "open" });
    const second = advance(first, ITEM, attempt("failed", turn(["x"], 0.25)), { status: "open" });

    expect(first).toMatchObject({ turns: 1, tokens: 5, costUsd: null, idleTurns: 1 });
    expect(second).toMatchObject({ turns: 2, tokens: 5, costUsd: 0.25, idleTurns: 0 });
  });

  test("an attempt without a turn counts no turn and is no idle one", () => {
    const after = advance(newProgress(0), { ...ITEM, checksOnly: true }, attempt("verified", null), {
      status: "passed",
    });

    expect(after).toMatchObject({ iterations: 0, turns: 0, idleTurns: 0, passed: [] });
  });
});

test("advance() counts a turn at an item that was given up as idle: parking is no movement", () => {
  const idle = { ...newProgress(0), idleTurns: 2 };

  expect(advance(idle, ITEM, attempt("failed", turn([])), { status: "parked", reason: "x" }).idleTurns).toBe(3);
  expect(advance(idle, ITEM, attempt("failed", turn([])), { status: "open" }).idleTurns).toBe(3);
});

test("advance() counts turns after which nothing passed for the first time, items added without end included", () => {
  const limits = { atStart: 1, added: 1 };
  const pass = (progress: Progress, id: string): Progress =>
    advance(progress, { ...ITEM, id }, attempt("verified", turn(["x"])), { status: "passed" }, limits);

  const first = pass(pass(newProgress(0), "a"), "b");
  expect(first.stalledTurns).toBe(0);
  expect(pass(first, "a").stalledTurns).toBe(1);
  expect(pass(first, "c").stalledTurns).toBe(1);
  expect(limitReached({ ...first, stalledTurns: 12 }, LIMITS, 0)).toBe("12 turns without a new pass");
});

describe("sameFailures()", () => {
  test("counts equal failures in a row; numbers in them do not matter", () => {
    const history = [
      attempt("failed", null, "other"),
      attempt("failed", null, "took 12 ms"),
      attempt("failed", null, "took 9 ms"),
    ];

    expect(sameFailures(attempt("failed", null, "took 100 ms"), history)).toBe(3);
    expect(sameFailures(attempt("failed", null, "new"), history)).toBe(1);
    expect(sameFailures(attempt("verified", null), history)).toBe(0);
    const interleaved = [attempt("failed", null, "took 9 ms"), attempt("failed", null, "other"), history[1]!];
    expect(sameFailures(attempt("failed", null, "took 100 ms"), interleaved)).toBe(2);
  });
});
