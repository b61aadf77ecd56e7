import { describe, expect, test } from "vitest";
import { defaultConfig } from "../../lib/config/defaults.ts";
import { advance, limitReached, newProgress, unreportedBudget } from "../../lib/loop/policy/progress.ts";
import { refusalOf } from "../../lib/agents/turn_verdict.ts";
import type { Attempt, Turn, Usage } from "../../lib/backlog/types.ts";

const UNKNOWN: Usage = {
  inputTokens: null,
  outputTokens: null,
  cachedTokens: null,
  reasoningTokens: null,
  costUsd: null,
  estimated: false,
};
const TOLD: Usage = { ...UNKNOWN, inputTokens: 100, outputTokens: 20, cachedTokens: 40, costUsd: 0.5, estimated: true };
const LIMITS = defaultConfig().limits;

function attempt(usage: Usage): Attempt {
  const turn = {
    end: { reason: "completed" },
    usage,
    transcript: "t",
    durationMs: 1,
    changedFiles: ["a"],
    base: null,
    head: null,
  } as const;
  return { id: "r.1", number: 1, claim: null, verification: null, turn, status: "verified" };
}

function after(turns: readonly (readonly [string, Usage])[]) {
  return turns.reduce(
    (progress, [id, usage]) =>
      advance(progress, { id, kind: "story", title: id, data: null }, attempt(usage), { status: "open" }),
    newProgress(0),
  );
}

describe("usage", () => {
  test("adds up by run and by item, and counts the turns that did not report", () => {
    const progress = after([["a", TOLD], ["a", UNKNOWN], ["b", TOLD]]);

    expect(progress).toMatchObject({ tokens: 240, costUsd: 1 });
    expect(progress.usage).toMatchObject({ inputTokens: 200, cachedTokens: 80, turns: 3, turnsWithoutTokens: 1 });
    expect(progress.usageByItem["a"]).toMatchObject({ inputTokens: 100, turns: 2, turnsWithoutCost: 1 });
    expect(progress.usageByItem["b"]).toMatchObject({ inputTokens: 100, turns: 1, turnsWithoutCost: 0 });
  });

  test("that nobody told is unknown, not 0", () => {
    const progress = after([["a", UNKNOWN]]);

    expect(progress).toMatchObject({
      tokens: null,
      costUsd: null,
      usage: { inputTokens: null, reasoningTokens: null },
    });
  });

  test("is never in a limit's way while it is unknown, but that is said", () => {
    const progress = after([["a", UNKNOWN]]);
    const limits = { ...LIMITS, tokens: 10, costUsd: 1 };

    expect(limitReached(progress, limits, 0)).toBe(null);
    expect(unreportedBudget(progress, limits)).toBe(
      "no turn has reported how many tokens it used: limits.tokens cannot be kept; " +
        "no turn has reported what it cost: limits.costUsd cannot be kept",
    );
    expect(unreportedBudget(progress, { ...limits, tokens: null })).toContain("limits.costUsd cannot be kept");
    expect(unreportedBudget(progress, LIMITS)).toBe(null);
    expect(unreportedBudget(newProgress(0), limits)).toBe(null);
  });

  test.each([
    [{ tokens: 240 }, "240 of 240 tokens, and what 1 turn did not report"],
    [{ tokens: 241 }, null],
    [{ costUsd: 0.9 }, "about 1.00 of 0.9 USD, and what 1 turn did not report"],
  ])("at its budget %j stops the run with the figure: %s", (budget, words) => {
    const progress = after([["a", TOLD], ["a", UNKNOWN], ["b", TOLD]]);

    expect(limitReached(progress, { ...LIMITS, ...budget }, 0)).toBe(words);
  });
});

describe("refusalOf()", () => {
  const turn = (lines: readonly string[], over: Partial<Turn> = {}): Turn => ({
    end: { reason: "completed" },
    usage: UNKNOWN,
    transcript: "t",
    durationMs: 1,
    changedFiles: [],
    base: null,
    head: null,
    text: lines.join("\n"),
    lines,
    activity: { toolCalls: 0, asked: false, planned: false },
    ...over,
  });

  test.each([
    [turn(["Which database?"]), "the agent only asked a question that no one answers: Which database?"],
    [turn(["I would do it so."]), "the agent used no tool and changed nothing: I would do it so."],
    [turn([]), "the agent used no tool and changed nothing"],
    [
      turn(["Tell me."], { activity: { toolCalls: 1, asked: true, planned: false } }),
      "the agent asked a question that no one answers: Tell me.",
    ],
    [
      turn(["Plan: x"], { activity: { toolCalls: 3, asked: false, planned: true } }),
      "the agent made a plan and changed nothing: Plan: x",
    ],
    [turn(["Looked at it."], { activity: { toolCalls: 1, asked: false, planned: false } }), null],
    [turn(["Which?"], { changedFiles: ["a"] }), null],
  ])("%#", (given, words) => {
    expect(refusalOf(given)).toBe(words);
  });

  test("says nothing of an agent whose stream tells nothing", () => {
    const { activity: _, ...plain } = turn(["Which database?"]);

    expect(refusalOf(plain)).toBe(null);
  });
});
