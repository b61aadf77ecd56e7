import { describe, expect, test } from "vitest";
import type { RalphEvent } from "../../lib/events/types.ts";
import type { Usage } from "../../lib/backlog/types.ts";
import { type Activity, EMPTY_VIEW, nextView, type ViewState } from "../../lib/ui/view_lines.ts";
import { EVERY_EVENT } from "./every_event.ts";

const item = { id: "US-001", kind: "story", title: "Add login" };
const TURN: RalphEvent = { type: "turn-start", agent: "claude", transcript: "t.log" };

function usage(fields: Partial<Usage>): Usage {
  return {
    inputTokens: null,
    outputTokens: null,
    cachedTokens: null,
    reasoningTokens: null,
    costUsd: null,
    estimated: false,
    ...fields,
  };
}

/** The state after these events, one a second. */
function after(...events: readonly RalphEvent[]): ViewState {
  return events.reduce<ViewState>((state, event, index) => nextView(state, event, index * 1000), EMPTY_VIEW);
}

describe("nextView()", () => {
  test("an item, its turn, a check: what is running, and since when", () => {
    const start: RalphEvent = {
      type: "iteration-start",
      iteration: 2,
      item,
      attempt: 1,
      passed: 0,
      total: 3,
      limit: 9,
    };
    const check: RalphEvent = { type: "check-start", name: "npm test", scope: "", number: 1, total: 2 };

    const turn = after(start, TURN);
    const checked = nextView(nextView(turn, turnEnd(usage({})), 5000), check, 6000);

    expect(turn).toMatchObject({ startedMs: 0, iteration: { item }, activity: { kind: "turn", sinceMs: 1000 } });
    expect(checked).toMatchObject({
      startedMs: 0,
      iteration: { item },
      activity: { kind: "check", check, sinceMs: 6000 },
    });
  });

  test.each<RalphEvent>([
    turnEnd(usage({})),
    { type: "step-end", step: "plan", status: "approved" },
    { type: "run-end", status: "passed", reasons: [], iterations: 1 },
    { type: "step-start", step: "plan", title: "Plan" },
  ])("nothing continues any more after $type", (event) => {
    expect(after(TURN, { type: "agent-text", text: "hi" }, event)).toMatchObject({
      activity: null,
      words: "",
      tool: "",
    });
  });

  test("usage: steps are added up, a total stands over them, and what a turn used goes to the run", () => {
    const step = (inputTokens: number): RalphEvent => ({
      type: "agent-usage",
      scope: "step",
      usage: usage({ inputTokens }),
    });
    const total = usage({ inputTokens: 500, costUsd: 0.5, estimated: true });

    expect(after(TURN).turnUsage).toBeNull();
    expect(after(TURN, step(100), step(50)).turnUsage?.inputTokens).toBe(150);
    expect(after(TURN, step(100), { type: "agent-usage", scope: "total", usage: total }).turnUsage).toEqual(total);
    expect(after(TURN, turnEnd(total), TURN, turnEnd(usage({}))).runUsage).toMatchObject({
      inputTokens: 500,
      costUsd: 0.5,
      turns: 2,
      turnsWithoutTokens: 1,
      turnsWithoutCost: 1,
    });
  });

  test("nothing used is not known: a failed request says so", () => {
    const nothing = usage({ inputTokens: 0, outputTokens: 0, costUsd: 0 });

    expect(after(TURN, { type: "agent-usage", scope: "total", usage: nothing }).turnUsage).toBeNull();
  });

  test("an agent that waits by itself is shown waiting until it continues", () => {
    const limit: RalphEvent = {
      type: "agent-rate-limit",
      status: "retrying",
      untilMs: null,
      waitMs: 30_000,
      message: "retry 1 of 10",
    };

    expect(after(TURN, limit).pause).toEqual({ message: "retry 1 of 10", untilMs: 31_000 });
    expect(after(TURN, limit, { type: "agent-text", text: "on it" }).pause).toBeNull();
  });

  test("a parallel hook does not hide the turn; what it says is not the agent's", () => {
    const hook: RalphEvent = { type: "hook-start", hook: "docs", iteration: 1, parallel: true, log: "h.log" };
    const state = after(TURN, hook);

    expect(state.activity).toMatchObject({ kind: "turn" });
    expect(after({ ...hook, parallel: false }).activity).toMatchObject({ kind: "hook", hook: "docs" });
  });

  test("of what an agent prints no more is kept than can be shown", () => {
    const text = "x".repeat(1_000_000);
    const state = after(
      TURN,
      { type: "agent-text", text: `${text}end` },
      { type: "agent-tool-call", id: null, tool: "Bash", input: text },
    );

    expect(state.words.length + state.tool.length).toBeLessThan(5000);
    expect(state.words).toMatch(/end$/);
  });

  test("what says nothing new gives the same state back", () => {
    const state = after(TURN);

    expect(nextView(state, { type: "note", level: "info", message: "hi" }, 9000)).toBe(state);
  });
});

/** The events that begin, end or replace what is shown as running; every other one leaves it alone. */
const STARTS = {
  "turn-start": "turn",
  "check-start": "check",
  "hook-start": "hook",
  "landing-start": "landing",
  "wait-start": "wait",
  "pause-start": "paused",
} as const satisfies Partial<Record<RalphEvent["type"], Activity["kind"]>>;
const ENDS: ReadonlySet<RalphEvent["type"]> = new Set([
  "turn-end",
  "check-end",
  "hook-end",
  "landing-end",
  "wait-end",
  "pause-end",
  "step-start",
  "step-end",
  "run-end",
  "iteration-start",
  "iteration-end",
]);

describe("every event, whatever is running", () => {
  const begun = Object.keys(STARTS) as (keyof typeof STARTS)[];

  test.each(begun)("%s shows the activity of its own name", (type) => {
    expect(after(EVERY_EVENT[type]).activity?.kind).toBe(STARTS[type]);
  });

  test.each(Object.values(EVERY_EVENT).filter(({ type }) => !(type in STARTS) && !ENDS.has(type)))(
    "$type is not about activity and leaves activity alone",
    (event) => {
      expect(after(event).activity).toBeNull();
      for (const type of begun) {
        const before = after(EVERY_EVENT[type]);
        expect(nextView(before, event, 9000).activity).toBe(before.activity);
      }
    },
  );

  test("a wait, a refused host and restored state keep what a turn has said", () => {
    const state = after(TURN, { type: "agent-text", text: "hi" }, EVERY_EVENT["agent-tool-call"]);
    for (const type of ["host-refused", "state-restored", "sandbox", "wait-delta"] as const) {
      expect(nextView(state, EVERY_EVENT[type], 9000)).toMatchObject({ words: "hi", tool: "Bash ls" });
    }
  });
});

function turnEnd(used: Usage): RalphEvent {
  return { type: "turn-end", agent: "claude", reason: "completed", message: null, durationMs: 1000, usage: used };
}
