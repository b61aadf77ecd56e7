import { stripVTControlCharacters } from "node:util";
import { describe, expect, test } from "vitest";
import type { RalphEvent } from "../../lib/events/types.ts";
import { createHumanReporter, createJsonReporter, type Detail } from "../../lib/ui/create_reporter.ts";
import { createStyle, formatDuration, tailLines, wantsColour } from "../../lib/ui/text.ts";

const item = { id: "US-001", kind: "story", title: "Add login" };
const EVENTS: readonly RalphEvent[] = [
  { type: "iteration-start", iteration: 2, item, attempt: 2, passed: 1, total: 3 },
  { type: "agent-text", text: "I am on it\n" },
  {
    type: "check-end",
    name: "npm test",
    scope: "",
    ok: false,
    exitCode: 1,
    durationMs: 3210,
    tail: "\u001b[31mexpected 1\u001b[39m\r\ngot 2\n",
  },
  { type: "state-restored", paths: ["scripts/ralph/prd.json"] },
  {
    type: "iteration-end",
    iteration: 2,
    item,
    attempt: 2,
    result: "failed",
    settlement: "parked",
    message: "npm test: exit 1",
    durationMs: 61_000,
    usage: null,
  },
];

function show(mode: "rich" | "plain", detail: Detail, colour = false): string {
  const lines: string[] = [];
  const reporter = createHumanReporter({
    mode,
    detail,
    style: createStyle({ colour, ascii: false }),
    say: (line) => lines.push(line),
  });
  for (const event of EVENTS) reporter.emit(event);
  return lines.join("\n");
}

describe("createHumanReporter()", () => {
  test("rich: an item a block, the failing check's tail below it", () => {
    expect(show("rich", "normal")).toBe(`
◆ US-001  Add login · 1/3 done · attempt 2
  ✗ npm test 3.2s exit 1
    │ expected 1
    │ got 2
  ▲ restored, edited manually: scripts/ralph/prd.json
  ✗ parked: npm test: exit 1 in 1m 01s`);
  });

  test("plain: a line an event", () => {
    expect(show("plain", "normal")).toBe(`story US-001: Add login (attempt 2, 1 of 3 done)
  check failed: npm test (exit 1, 3.2s)
    expected 1
    got 2
  warning: restored, edited manually: scripts/ralph/prd.json
story US-001: parked: npm test: exit 1 (1m 01s)`);
  });

  test("quiet shows warnings alone, verbose the agent's words too", () => {
    expect(show("plain", "quiet")).toBe("  warning: restored, edited manually: scripts/ralph/prd.json");
    expect(show("plain", "verbose")).toContain("    I am on it\n");
  });

  test("checks that cannot be believed are shown in every mode, a line a file, nothing in them moving the cursor", () => {
    const event = {
      type: "experiments",
      item,
      findings: ["a.test.js: deleted", "b.test.js: 1 of 2 test cases gone (`\u001b[2Jx\n  check passed`)"],
      tried: [],
      blocked: true,
    } as const;
    for (const mode of ["plain", "rich"] as const) {
      const lines: string[] = [];
      const style = createStyle({ colour: false, ascii: true });
      createHumanReporter({ mode, detail: "quiet", style, say: (line) => lines.push(line) }).emit(event);

      expect(lines).toHaveLength(3);
      expect(lines[0]).toContain("the checks cannot be believed, so that the work fails");
      expect(lines[2]).toContain("b.test.js: 1 of 2 test cases gone (`\\u001b[2Jx check passed`)");
    }
  });

  test("what happens in a worker's tree says in which", () => {
    const landing = {
      type: "landing-end",
      item,
      result: "conflict",
      checkedAgain: false,
      conflicts: 1,
      paths: ["a.ts"],
    } as const;
    const lines: string[] = [];
    const style = createStyle({ colour: false, ascii: true });
    for (const mode of ["plain", "rich"] as const) {
      const reporter = createHumanReporter({ mode, detail: "quiet", style, say: (line) => lines.push(line) });
      reporter.emit({ type: "iteration-start", iteration: 1, item, attempt: 1, passed: 0, total: 3 }, 1);
      reporter.emit(landing, 1);
      reporter.emit({ ...landing, result: "landed", paths: [] }, 1);
    }

    expect(lines).toEqual([
      "[1]   warning: US-001 conflicts with what was merged since, and comes again: a.ts",
      "[1]   ! US-001 conflicts with what was merged since, and comes again: a.ts",
    ]);
  });

  test("a stage that is its own kind is named once, and what fails to land is not said to have passed", () => {
    const lines: string[] = [];
    const style = createStyle({ colour: false, ascii: true });
    const reporter = createHumanReporter({ mode: "plain", detail: "normal", style, say: (line) => lines.push(line) });
    const stage = { id: "VERIFY", kind: "VERIFY", title: "2 done tasks" };
    reporter.emit({ type: "iteration-start", iteration: 1, item: stage, attempt: 1, passed: 0, total: null });
    const failed = { result: "failed", checkedAgain: true, conflicts: 0, paths: [] } as const;
    reporter.emit({ type: "landing-end", item, ...failed }, 1);

    expect(lines).toEqual([
      "VERIFY: 2 done tasks (attempt 1)",
      "[1]   warning: US-001 did not land: its checks fail on the branch as it is now",
    ]);
  });

  test("colour changes no character", () => {
    expect(stripVTControlCharacters(show("rich", "normal", true))).toBe(show("rich", "normal"));
  });
});

test("createJsonReporter() writes version, time, run and event in one line", () => {
  const lines: string[] = [];

  createJsonReporter({ run: () => "r1", now: () => 0, out: (line) => lines.push(line) }).emit({
    type: "note",
    level: "info",
    message: "a\nb",
  });

  expect(lines).toEqual([
    '{"v":1,"at":"1970-01-01T00:00:00.000Z","run":"r1","type":"note","level":"info","message":"a\\nb"}',
  ]);
});

test.each([[0, "0.0s"], [9_940, "9.9s"], [9_960, "10s"], [65_000, "1m 05s"], [3_720_000, "1h 02m"]])(
  "formatDuration(%d) is %s",
  (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  },
);

test("tailLines() takes colours, carriage returns and control characters away", () => {
  expect(tailLines("a\r\nb\u0007\u001b[2K c\n\n", 2)).toEqual(["a", "b c"]);
});

test.each([
  [{}, true, false, true],
  [{}, false, false, false],
  [{ NO_COLOR: "1" }, true, false, false],
  [{ NO_COLOR: "" }, true, false, true],
  [{ FORCE_COLOR: "1" }, false, false, true],
  [{ FORCE_COLOR: "1" }, false, true, false],
  [{ TERM: "dumb" }, true, false, false],
])("wantsColour() with %j, terminal %s, refused %s is %s", (variables, isTTY, refused, wanted) => {
  expect(wantsColour(isTTY, { variables }, refused)).toBe(wanted);
});
