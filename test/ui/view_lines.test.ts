import { stripVTControlCharacters } from "node:util";
import { localTime } from "../../lib/host/local_date.ts";
import { describe, expect, test } from "vitest";
import type { RalphEvent } from "../../lib/events/types.ts";
import {
  displayWidth,
  EMPTY_VIEW,
  laneLines,
  nextView,
  printableView,
  viewLines,
  type ViewState,
} from "../../lib/ui/view_lines.ts";
import { createStyle } from "../../lib/ui/text.ts";

const unknown = {
  inputTokens: null,
  outputTokens: null,
  cachedTokens: null,
  reasoningTokens: null,
  costUsd: null,
  estimated: false,
};
const START: RalphEvent = {
  type: "iteration-start",
  iteration: 3,
  item: { id: "US-001", kind: "story", title: "Add login" },
  attempt: 2,
  passed: 0,
  total: 3,
  limit: 10,
};
const TURN: RalphEvent = { type: "turn-start", agent: "claude", transcript: "t.log" };
const TOOL: RalphEvent = { type: "agent-tool-call", id: null, tool: "Bash", input: "npm test" };
const COST: RalphEvent = {
  type: "agent-usage",
  scope: "total",
  usage: { ...unknown, inputTokens: 12_000, outputTokens: 345, costUsd: 0.03, estimated: true },
};
const END: RalphEvent = {
  type: "turn-end",
  agent: "claude",
  reason: "completed",
  message: null,
  durationMs: 1,
  usage: { ...unknown, inputTokens: 2_000_000, costUsd: 1 },
};
const TOLD_NOTHING: RalphEvent = { ...END, usage: unknown };

/** The view 65 seconds after these events, which came one a second. */
function drawn(
  events: readonly RalphEvent[],
  { columns = 80, rows = 24, colour = false, ascii = false, laterMs = 65_000 } = {},
): readonly string[] {
  const state = events.reduce<ViewState>((before, event, index) => nextView(before, event, index * 1000), EMPTY_VIEW);
  const now = (events.length - 1) * 1000 + laterMs;
  return viewLines(printableView(state), { columns, rows, now, style: createStyle({ colour, ascii }) });
}

describe("viewLines()", () => {
  test("a turn: item and times, tokens and tool, the last line", () => {
    const said: RalphEvent = { type: "agent-text", text: "First this.\nThen that.\n\n" };

    expect(drawn([START, TURN, TOOL, COST, said])).toEqual([
      "◆ US-001 Add login · attempt 2 · iteration 3/10 · 1m 08s · run 1m 09s",
      "  12.3k tokens, ~$0.03 · Bash npm test",
      "  │ Then that.",
    ]);
  });

  test("nothing is drawn where nothing continues", () => {
    expect(drawn([START])).toEqual([]);
    expect(drawn([START, TURN, END])).toEqual([]);
  });

  test("what is not known is left out, and a sum without it has a plus", () => {
    expect(drawn([TURN])[1]).toBe("  claude");
    expect(drawn([TURN, TOLD_NOTHING, TURN])[1]).toBe("  claude");
    expect(drawn([TURN, END, TURN, COST])[1]).toBe("  12.3k tokens, ~$0.03 · run 2.0M tokens, ~$1.03");
    expect(drawn([TURN, END, TURN, TOLD_NOTHING, TURN])[1]).toBe("  run 2.0M+ tokens, $1.00+");
  });

  test("a check: which of how many, and what it printed last", () => {
    const check: RalphEvent = { type: "check-start", name: "npm test", scope: "", number: 2, total: 4 };

    expect(drawn([START, check], { laterMs: 12_400 })).toEqual([
      "◆ US-001 Add login · attempt 2 · iteration 3/10 · 12s · run 13s",
      "  check 2/4 npm test",
    ]);
  });

  test("a wait counts down, and never below nothing", () => {
    const wait: RalphEvent = {
      type: "wait-start",
      agent: "claude",
      reason: "rate-limit",
      until: new Date(300_000).toISOString(),
      remainingMs: 300_000,
      message: "usage limit reached",
    };

    expect(drawn([wait], { laterMs: 1000, columns: 120 })[1]).toBe(
      `  4m 59s left: claude has reached a limit, until ${localTime(300_000)} (usage limit reached)`,
    );
    expect(drawn([wait], { laterMs: 400_000 })[1]).toContain("  0s left");
  });

  test("an agent that waits by itself: how long still, and for what", () => {
    const limit: RalphEvent = {
      type: "agent-rate-limit",
      status: "retrying",
      untilMs: 90_000,
      waitMs: null,
      message: "429",
    };

    expect(drawn([TURN, limit])[1]).toBe("  24s left: 429");
    expect(drawn([TURN, limit], { laterMs: 600_000 })[1]).toBe("  429");
  });

  test("in a narrow terminal the title gives way, then the words, then the run's time", () => {
    expect(drawn([START, TURN, TOOL], { columns: 60 })[0]).toBe(
      "◆ US-001 Add login · attempt 2 · 3/10 · 1m 06s · run 1m 07s",
    );
    expect(drawn([START, TURN, TOOL], { columns: 40 })[0]).toBe("◆ US-001 Add login · 3/10 · 1m 06s");
    expect(drawn([START, TURN, TOOL], { columns: 20 })[0]).toBe("◆ US-001 Add login");
  });

  test.each([1, 2, 3, 5, 10, 17, 40, 80, 200])("no line is as wide as %i columns, whatever is in it", (columns) => {
    const title = "日本語のタイトル🚀👨‍👩‍👧 and\tmore\u001b[31m words".repeat(20);
    const events: readonly RalphEvent[] = [
      { ...START, item: { id: "界".repeat(9), kind: "story", title } },
      TURN,
      { type: "agent-tool-call", id: null, tool: title, input: title },
      { type: "agent-text", text: title },
    ];
    for (const ascii of [false, true]) {
      for (const line of drawn(events, { columns, ascii })) expect(displayWidth(line)).toBeLessThan(columns);
    }
  });

  test("the view leaves a row free where it can", () => {
    const said: RalphEvent = { type: "agent-text", text: "hi" };

    expect([1, 2, 3, 4].map((rows) => drawn([START, TURN, said], { rows }).length)).toEqual([1, 1, 2, 3]);
  });

  test("nothing of an agent's sequences comes through", () => {
    const evil =
      "\u001b[2J\u001b]0;title\u0007\u009b31m\u202ea\tb\u0000\u0008 \u001b[31mred\r\nlast\u001b[H line\u001b";
    const lines = drawn([
      { ...START, item: { id: evil, kind: "story", title: evil } },
      TURN,
      { type: "agent-tool-call", id: null, tool: evil, input: evil },
      { type: "agent-text", text: evil },
    ], { columns: 200 });

    expect(lines.join("")).not.toMatch(/[\p{Cc}\u202e]/u);
    expect(lines[2]).toBe("  │ last line");
  });

  test("of a bar of progress the line that it was drawn over with is shown", () => {
    expect(drawn([TURN, { type: "agent-text", text: "10 %\r50 %\r90 %" }])[2]).toBe("  │ 90 %");
  });

  test("colour changes no character, and is closed where the line is cut", () => {
    const events = [START, TURN, TOOL, { type: "agent-text", text: "words ".repeat(30) } as const];
    for (const columns of [80, 40, 12]) {
      const painted = drawn(events, { columns, colour: true });
      expect(painted.map(stripVTControlCharacters)).toEqual(drawn(events, { columns }));
      for (const line of painted) {
        expect(line.match(/\u001b\[(39|22)m/g)?.length).toBe(line.match(/\u001b\[(1|2|3[36])m/g)?.length);
      }
    }
  });
});

test("laneLines() is a line a lane: its item, how long, and what it does, never wider than the terminal", () => {
  const item = (id: string): Parameters<typeof nextView>[1] => ({
    type: "iteration-start",
    iteration: 1,
    item: { id, kind: "story", title: "A title that is rather long for one line" },
    attempt: 1,
    passed: 0,
    total: 3,
  });
  const begun = (id: string): ViewState => nextView(EMPTY_VIEW, item(id), 0);
  const inTurn = nextView(begun("US-1"), { type: "turn-start", agent: "claude", transcript: "t" }, 1000);
  const tool = { type: "agent-tool-call", id: null, tool: "Edit", input: "src/login.ts" } as const;
  const event = { id: "US-2", kind: "story", title: "" };
  const lanes = new Map([
    [1, nextView(begun("US-2"), { type: "landing-start", item: event, behind: 1 }, 3000)],
    [0, nextView(inTurn, tool, 2000)],
    [2, begun("US-3")],
  ]);

  const lines = laneLines(lanes, {
    columns: 80,
    rows: 24,
    now: 5000,
    style: createStyle({ colour: false, ascii: true }),
  });

  expect(lines.map((line) => line.replace(/A title.*? line/, "…"))).toEqual([
    "0 * US-1 … - 4s - Edit src/login.ts",
    "1 * US-2 … - 2s - landing",
    "2 * US-3 … - waits to land",
  ]);
  for (
    const line of laneLines(lanes, {
      columns: 30,
      rows: 3,
      now: 5000,
      style: createStyle({ colour: false, ascii: true }),
    })
  ) {
    expect(displayWidth(line)).toBeLessThan(30);
  }
});
