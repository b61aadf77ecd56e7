import { expect, test } from "vitest";
import type { RalphEvent } from "../../lib/events/types.ts";
import type { RunReport } from "../../lib/report/types.ts";
import { readEvent } from "../../lib/watch/follow.ts";
import { findItem, itemRegions } from "../../lib/web/pages.ts";
import { RunModel } from "../../lib/web/model.ts";
import { runRegions } from "../../lib/web/run_page.ts";
import { rowsOf } from "../../lib/web/spans.ts";
import { EVERY_EVENT } from "../ui/every_event.ts";

const START_MS = Date.UTC(2026, 0, 2, 3, 4, 5);

/** A run with these events, each at its second, in its lane. */
function modelOf(...events: readonly (readonly [second: number, event: RalphEvent, lane?: number])[]): RunModel {
  const model = new RunModel("events.ndjson");
  for (const [second, event, lane] of events) {
    const at = new Date(START_MS + second * 1000).toISOString();
    const read = readEvent({ v: 1, at, run: "r", ...event, ...(lane === undefined ? {} : { lane }) });
    if (read !== null) model.take(read);
  }
  return model;
}

/** The attempts on the page of an item, as HTML. */
function attemptsOf(model: RunModel, id = "US-001", part = 0): string {
  const item = findItem(model.report() as RunReport, part, id);
  if (item === null) throw new Error(`no ${id}`);
  const { attempts } = itemRegions({ href: "", model, item, isLive: false, diffs: new Map() });
  return attempts?.markup ?? "";
}

const started = EVERY_EVENT["iteration-start"];
const ended = EVERY_EVENT["iteration-end"];
const check = (tail: string, more: Partial<typeof EVERY_EVENT["check-end"]> = {}): RalphEvent => ({
  ...EVERY_EVENT["check-end"],
  ok: false,
  exitCode: 1,
  tail,
  ...more,
});

test("a check before the turn shows its own output, not that of the same check after the turn", () => {
  const html = attemptsOf(modelOf(
    [0, EVERY_EVENT["run-start"]],
    [1, started],
    [2, check("Could not find round.test.js", { beforeWork: true })],
    [3, EVERY_EVENT["turn-start"]],
    [4, EVERY_EVENT["turn-end"]],
    [5, check("1 == 1.01")],
    [6, { ...ended, result: "failed", settlement: "open" }],
  ));

  const [after = "", before = ""] = html.split("Before the turn");
  expect(after).toContain("1 == 1.01");
  expect(before).toContain("Could not find round.test.js");
  expect(before).not.toContain("1 == 1.01");
});

test("a check that runs twice after a turn, or in a later loop's iteration of the same number, keeps its output", () => {
  const model = modelOf(
    [0, EVERY_EVENT["run-start"]],
    [1, started],
    [2, check("first try")],
    [3, check("second try")],
    [4, { ...ended, result: "failed", settlement: "open" }],
    [5, EVERY_EVENT["run-end"]],
    [6, EVERY_EVENT["run-start"]],
    [7, started],
    [8, check("another loop")],
    [9, { ...ended, result: "failed", settlement: "open" }],
    [10, check("final check")],
  );

  expect(attemptsOf(model)).toMatch(/first try[\s\S]*second try/);
  expect(attemptsOf(model)).not.toContain("another loop");
  expect(attemptsOf(model, "US-001", 1)).toContain("another loop");
  expect(attemptsOf(model, "US-001", 1)).not.toContain("final check");
});

test("two lanes in the same moment: each item shows the output of its own check", () => {
  const other = { id: "US-002", kind: "story", title: "Other" };
  const model = modelOf(
    [0, EVERY_EVENT["run-start"]],
    [1, started, 0],
    [1, { ...started, iteration: 2, item: other }, 1],
    [2, check("of one"), 0],
    [2, check("of two"), 1],
    [3, { ...ended, result: "failed", settlement: "open" }, 0],
    [3, { ...ended, iteration: 2, item: other, result: "failed", settlement: "open" }, 1],
  );

  expect(attemptsOf(model)).toContain("of one");
  expect(attemptsOf(model)).not.toContain("of two");
  expect(attemptsOf(model, "US-002")).toContain("of two");
});

test("a turn of a reviewer or a challenger does not move checks before the turn", () => {
  const html = attemptsOf(modelOf(
    [0, EVERY_EVENT["run-start"]],
    [1, started],
    [2, EVERY_EVENT["turn-start"]],
    [3, EVERY_EVENT["turn-end"]],
    [4, check("")],
    [5, { ...EVERY_EVENT["turn-start"], agent: "codex" }],
    [6, EVERY_EVENT["turn-end"]],
    [7, { ...ended, result: "failed", settlement: "open" }],
  ));

  expect(html).not.toContain("Before the turn");
});

test("the pace is the time of iterations: a person's pause is not part of it, a parked item is not to go", () => {
  const parked = {
    ...started,
    iteration: 2,
    item: { id: "US-002", kind: "story", title: "Other" },
    passed: 1,
    total: 2,
  };
  const model = modelOf(
    [0, EVERY_EVENT["run-start"]],
    [480, { ...started, total: 2 }],
    [506, { ...ended, durationMs: 26_000 }],
    [600, parked],
    [626, { ...ended, ...parked, type: "iteration-end", result: "failed", settlement: "parked", durationMs: 26_000 }],
    [630, EVERY_EVENT["run-end"]],
  );
  const { tiles } = runRegions({ href: "", model, live: null, now: START_MS });

  expect(tiles?.markup).toContain(">26s each<");
});

test("items that plan or review are no items done, and the final check has the last word on the others", () => {
  const plans = { id: "planning-2", kind: "planning", title: "A goal", preparatory: true };
  const passed = { result: "unverified", settlement: "passed", message: null, reopened: [] } as const;
  const events = [
    [0, EVERY_EVENT["run-start"]],
    [1, { ...started, passed: 0, total: null }],
    [2, { ...ended, ...passed }],
    [3, { ...started, iteration: 2, item: plans, passed: 1, total: null }],
    [4, { ...ended, ...passed, iteration: 2, item: plans }],
  ] as const;
  const shown = (...more: readonly RalphEvent[]) => {
    const model = modelOf(...events, ...more.map((event, index) => [5 + index, event] as const));
    const regions = runRegions({ href: "", model, live: null, now: START_MS });
    return [regions["tiles"], regions["col-done"]].map((region) => region?.markup ?? "").join("");
  };
  const final = { ...EVERY_EVENT["step-end"], step: "final-check", status: "passed" };

  expect(shown()).toMatch(/>1<small>[\s\S]*Done <span class="count">1<[\s\S]*>unverified<[\s\S]*and 1 more/);
  expect(shown({ ...final, unverified: [] })).not.toContain(">unverified<");
  expect(shown({ ...final, unverified: ["US-001"] })).toContain(">unverified<");
  expect(shown({ ...final, status: "aborted", unverified: [] })).toContain(">unverified<");
});

test("iterations at the same time are drawn below each other, and a failed one paints only itself", () => {
  const span = (item: string, fromMs: number, toMs: number | null) => ({ item, fromMs, toMs, tone: "good" as const });
  const rows = rowsOf([span("a", 0, 10), span("b", 1, 5), span("c", 6, null), span("d", 10, 12)]);

  expect(rows.map((row) => row.map(({ item }) => item))).toEqual([["a", "d"], ["b", "c"]]);
});

test("while a loop is at work, the page warns of nothing that is known of the loop before it alone", () => {
  const notices = [{ kind: "no-own-check", subject: "a question", message: "" }] as const;
  const before = [[0, EVERY_EVENT["run-start"]], [1, { ...EVERY_EVENT["run-end"], notices }]] as const;
  const warned = (model: RunModel): string =>
    runRegions({ href: "", model, live: null, now: START_MS })["trust"]?.markup ?? "";

  expect(warned(modelOf(...before))).toContain("a question");
  expect(warned(modelOf(...before, [2, EVERY_EVENT["run-start"]]))).toBe("");
});

test("the board counts what passed in the loop at work, as its first tile does", () => {
  const passed = { result: "verified", settlement: "passed", message: null, reopened: [] } as const;
  const topic = { id: "how-it-works", kind: "topic", title: "How it works" };
  const model = modelOf(
    [0, EVERY_EVENT["run-start"]],
    [1, { ...started, item: topic, passed: 0, total: 1 }],
    [2, { ...ended, ...passed, item: topic }],
    [3, EVERY_EVENT["run-end"]],
    [4, EVERY_EVENT["run-start"]],
    [5, { ...started, passed: 0, total: 3 }],
    [6, { ...ended, ...passed }],
  );

  const regions = runRegions({ href: "", model, live: null, now: START_MS });

  expect(regions["tiles"]?.markup).toContain(">1<small>");
  expect(regions["col-done"]?.markup).toMatch(/Done <span class="count">1<[\s\S]*and 1 more/);
  expect(regions["col-done"]?.markup).not.toContain("How it works");
  expect(regions["col-open"]?.markup).toMatch(/<span class="count">2</);
});
