import { describe, expect, test } from "vitest";
import { describeFailures, startable } from "../../lib/backlog/attempts.ts";
import type { Attempt, CheckResult, Item, Settlement, TurnRecord } from "../../lib/backlog/types.ts";
import { AGENT_FLAGS } from "../../lib/cli/flags.ts";
import { parseLine } from "../../lib/cli/command.ts";
import { defaultConfig } from "../../lib/config/defaults.ts";
import { attemptsLeft } from "../../lib/loop/policy/attempts.ts";
import { advance, limitsOf, newProgress } from "../../lib/loop/policy/progress.ts";

const ITEM: Item = { id: "a", kind: "task", title: "a", data: null };
const KNOWN = { id: "r.1", claim: null, turn: null, verification: null } as const;

function failedAt(number: number): Attempt {
  return { ...KNOWN, number, status: "failed", reason: "checks-failed", message: "exit 1" };
}

describe("limitsOf()", () => {
  test.each([
    ["the smaller of two numbers of turns counts: the option", 10, { maxIterations: 4 }, 1, [4, 5, 20]],
    ["the smaller of two numbers of turns counts: the configuration", 10, { maxIterations: 50 }, 1, [10, 5, 20]],
    ["an option alone counts", null, { maxIterations: 50 }, 1, [50, 5, 20]],
    ["each worker may have as many turns without a change as one alone", null, {}, 3, [null, 15, 60]],
    ["options go before the configuration", 10, { limits: { iterations: 12, idle: 2 } }, 2, [12, 4, 40]],
  ])("%s", (_name, iterations, options, workers, [most, idle, stalled]) => {
    const config = { ...defaultConfig(), limits: { ...defaultConfig().limits, iterations, idle: 5, stalled: 20 } };
    expect(limitsOf({ config }, options, workers)).toMatchObject({ iterations: most, idle, stalled });
  });
});

describe("attemptsLeft()", () => {
  test.each<[string, Parameters<typeof attemptsLeft>[0], number, number]>([
    ["the configuration's number", {}, 1, 2],
    ["the backlog's number", { policy: { retries: 5 } }, 2, 3],
    ["the backlog's function", { policy: { retries: ({ number }) => number + 1 } }, 4, 1],
    ["never less than none", {}, 7, 0],
  ])("%s", (_name, backlog, number, left) => {
    expect(attemptsLeft(backlog, ITEM, failedAt(number), 3)).toBe(left);
  });
});

describe("startable()", () => {
  const open = [["c", 2], ["a", 1], ["b", 1], ["d", 3]].map(([id, priority]) =>
    ({ id, priority }) as {
      readonly id: string;
      readonly priority: number;
    }
  );
  test.each([
    ["the lowest priority is first", [], false, ["a", "b", "c", "d"]],
    ["beside another one only its own priority", ["a"], false, ["b"]],
    ["no later priority while an earlier one is open", ["a", "b"], false, []],
    ["any order where a person asked for it", ["a", "b"], true, ["c", "d"]],
  ])("%s", (_name, inFlight, anyOrder, expected) => {
    expect(startable(open, { inFlight, anyOrder }).map(({ id }) => id)).toEqual(expected);
  });
});

describe("advance()", () => {
  const turn: TurnRecord = {
    end: { reason: "completed" },
    usage: {
      inputTokens: 1,
      outputTokens: 1,
      cachedTokens: null,
      reasoningTokens: null,
      costUsd: null,
      estimated: false,
    },
    transcript: "t",
    durationMs: 1,
    changedFiles: ["state.yaml"],
    base: null,
    head: null,
  };
  test.each<[string, Settlement, [idle: number, stalled: number]]>([
    ["changed files are movement", { status: "open" }, [0, 3]],
    ["a settlement that is idle is none, whatever files it wrote", { status: "open", idle: true }, [3, 3]],
    ["a pass is movement and a result", { status: "passed" }, [0, 0]],
    ["an idle pass is neither", { status: "passed", idle: true }, [3, 3]],
  ])("%s", (_name, settlement, [idle, stalled]) => {
    const before = { ...newProgress(0), idleTurns: 2, stalledTurns: 2 };
    const after = advance(before, ITEM, { ...failedAt(1), turn }, settlement);
    expect([after.idleTurns, after.stalledTurns]).toEqual([idle, stalled]);
  });
});

test.each([[1, 12_000], [3, 4_000], [12, 1_000]])(
  "describeFailures(): %i failures share the room of a prompt",
  (count, each) => {
    const results = Array.from({ length: count }, (_, index): CheckResult => ({
      name: `check ${index}`,
      scope: "",
      ok: false,
      exitCode: 1,
      durationMs: 1,
      tail: "z".repeat(50_000),
    }));
    const text = describeFailures({ status: "failed", results, failures: results });
    const shown = text.match(/z+/g)?.map(({ length }) => length) ?? [];
    expect(shown).toHaveLength(count);
    expect(Math.max(...shown)).toBe(each);
  },
);

test.each<[string, string[], (string | undefined)[]]>([
  ["a flag goes before the variable of its rival", ["--agent", "codex"], ["codex", undefined]],
  ["the other way round as well", ["--agent-cmd", "my agent"], [undefined, "my agent"]],
  ["without a flag the variables count", [], ["claude", "theirs"]],
])("parseLine(): %s", (_name, line, expected) => {
  const command = {
    name: "try",
    summary: "",
    usage: "",
    arity: [0, 0] as const,
    flags: AGENT_FLAGS,
    load: () => Promise.reject(new Error("not loaded")),
  };
  const { flags } = parseLine(command, line, { RALPH_AGENT: "claude", RALPH_AGENT_CMD: "theirs" });
  expect([flags.text("agent"), flags.text("agent-cmd")]).toEqual(expected);
});
