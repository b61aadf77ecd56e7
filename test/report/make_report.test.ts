import { closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { REPORT_SCHEMA, reportJsonSchema } from "../../lib/report/schema.ts";
import type { RalphEvent } from "../../lib/events/types.ts";
import { peakOf } from "../live_memory.ts";
import { attempt, ndjson, projectWith, reportIn, reportOf, RUN, RUN_START, runEnd, UNKNOWN } from "./world.ts";

describe("makeReport()", () => {
  test("tells attempts, checks, usage and the end of a run", async () => {
    const report = await reportOf([
      RUN_START,
      ...attempt("US-001", 1, { result: "failed", settlement: "open", message: "npm test: exit 1\nno" }, [
        { name: "npm test", ok: false, tail: "no\n" },
      ]),
      ...attempt("US-001", 2, { attempt: 2 }, [{ name: "npm test", ok: true, tail: "fine" }]),
      runEnd("passed"),
    ]);

    expect(report).toMatchObject({ run: RUN, state: "ended", status: "passed", next: [] });
    expect(report.agents).toMatchObject([{ name: "claude", models: ["opus"], turns: 2 }]);
    expect(report.usage).toMatchObject({
      inputTokens: 2000,
      outputTokens: 408,
      costUsd: 0.062,
      estimated: true,
      turns: 2,
    });
    expect(report.counts).toEqual({ verified: 1, unverified: 0, parked: 0, open: 0 });
    const [story] = report.items;
    expect(story).toMatchObject({ id: "US-001", state: "verified", reason: null });
    expect(story?.attempts.map(({ result, settlement }) => [result, settlement])).toEqual([
      ["failed", "open"],
      ["verified", "passed"],
    ]);
    expect(story?.attempts.map(({ checks }) => checks[0]?.tail)).toEqual(["no", null]);
  });

  test("an unknown cost stays unknown, and turns that told nothing are counted", async () => {
    const known = attempt("US-001", 1);
    const untold = attempt("US-002", 2).map((event) =>
      event.type === "turn-end" ? { ...event, usage: UNKNOWN } : event
    );

    const none = await reportOf([RUN_START, ...untold, runEnd("passed")]);
    const some = await reportOf([RUN_START, ...known, ...untold, runEnd("passed")]);

    expect(none.usage).toMatchObject({ inputTokens: null, costUsd: null, turnsWithoutCost: 1 });
    expect(some.usage).toMatchObject({ inputTokens: 1000, costUsd: 0.031, turns: 2, turnsWithoutCost: 1 });
  });

  test("what no check proved is unverified, whatever the settlement says", async () => {
    const { items, counts, next } = await reportOf([
      RUN_START,
      ...attempt("US-001", 1, { result: "unverified" }),
      runEnd("unverified"),
    ]);

    expect(items[0]?.state).toBe("unverified");
    expect(counts).toEqual({ verified: 0, unverified: 1, parked: 0, open: 0 });
    expect(next).toEqual(["`ralph verify` runs what checks there are, `verify.default` names more"]);
  });

  test("checks that passed on an item that was not settled prove nothing", async () => {
    const { items } = await reportOf([RUN_START, ...attempt("US-001", 1, { settlement: "open" }), runEnd("failed")]);

    expect(items[0]?.state).toBe("not-done");
  });

  test("an item that a later one sent back is no longer verified", async () => {
    const review = { item: { id: "review", kind: "review", title: "Final verification" } };
    const { items, counts } = await reportOf([
      RUN_START,
      ...attempt("US-001", 1),
      ...attempt("review", 2, {
        ...review,
        result: "failed",
        settlement: "open",
        message: "sends back US-001: no tests",
        reopened: ["US-001"],
      }),
      runEnd("exhausted", ["2 iterations"]),
    ]);

    expect(items[0]).toMatchObject({ state: "reopened", reason: "sent back by review: sends back US-001: no tests" });
    expect(counts).toEqual({ verified: 0, unverified: 0, parked: 0, open: 1 });
  });

  test("a run without an end event is cut off, and its open attempt interrupted", async () => {
    const { state, status, items, next } = await reportOf([RUN_START, ...attempt("US-001", 1).slice(0, 2)]);

    expect({ state, status }).toEqual({ state: "cut-off", status: null });
    expect(items[0]).toMatchObject({ state: "interrupted", attempts: [{ result: null, turns: [{ reason: null }] }] });
    expect(next).toEqual(["`ralph run` continues where it stopped; nothing is lost"]);
  });

  test("lines that are no event are counted, named and left out", async () => {
    const { events, status, items } = await reportOf([
      RUN_START,
      "{not json",
      "[1]",
      '{"v":1,"at":"2026-01-02T03:04:05.000Z","run":"x","type":"check-end","name":1}',
      '{"type":"note"}',
      '{"v":2,"at":"2026-01-02T03:04:05.000Z","run":"x","type":"note"}',
      '{"v":1,"at":"2026-01-02T03:04:05.000Z","run":"x","type":"from-the-future"}',
      ...attempt("US-001", 1),
      runEnd("passed"),
      '{"v":1,"at":"2026-01-02T03:04',
    ]);

    expect(events).toMatchObject({ malformed: 5, unknown: 2, count: 7 });
    expect(events.problems[0]).toBe("not JSON: {not json");
    expect(events.problems[2]).toContain("no check-end event");
    expect({ status, items: items.length }).toEqual({ status: "passed", items: 1 });
  });

  test("parts follow one another; the last one's end is the run's", async () => {
    const { parts, status, items } = await reportOf([
      { type: "turn-start", agent: "claude", transcript: "runs/plan-1.log" },
      { type: "turn-end", agent: "claude", reason: "completed", message: null, durationMs: 1, usage: UNKNOWN },
      { type: "step-end", step: "plan", status: "approved" },
      { ...RUN_START, workflow: "understand" } as typeof RUN_START,
      ...attempt("topic", 1, { result: "unverified" }),
      runEnd("unverified"),
      RUN_START,
      ...attempt("US-001", 2),
      runEnd("blocked", ["no"]),
    ]);

    expect(parts.map(({ name, kind, status, turns }) => [name, kind, status, turns.length])).toEqual([
      ["plan", "step", "approved", 1],
      ["understand", "loop", "unverified", 0],
      ["exec", "loop", "blocked", 0],
    ]);
    expect({ status, parts: items.map(({ part }) => part) }).toEqual({ status: "blocked", parts: [1, 2] });
  });

  test("holds what the planner changed, which no item has", async () => {
    const { trespasses, parts } = await reportOf([
      { type: "step-start", step: "plan", title: "a goal" },
      { type: "trespass", by: "planner", paths: ["src/a.ts"], diff: "+x" },
      { type: "step-end", step: "plan", status: "failed" },
    ]);

    expect(trespasses).toMatchObject([{ item: null, by: "planner", paths: ["src/a.ts"] }]);
    expect(parts).toMatchObject([{ name: "plan", status: "failed" }]);
  });

  test("reads what 0.1.0 called `state-put-back`", async () => {
    const old = { type: "state-put-back", paths: ["a.json"] } as unknown as RalphEvent;

    const report = await reportOf([RUN_START, ...attempt("US-001", 1).slice(0, 1), old]);

    expect(report).toMatchObject({ restored: [{ item: "US-001", paths: ["a.json"] }], events: { unknown: 0 } });
  });

  test("keeps waits, hooks, restored files, trespasses, warnings and answers", async () => {
    const wait = { type: "wait-start", agent: "claude", reason: "rate-limit", until: "2026-01-02T05:00:00Z" } as const;
    const report = await reportOf([
      RUN_START,
      { type: "question", id: "gate.run", message: "Run it?" },
      { type: "answer", id: "gate.run", answer: "yes", source: "approve" },
      { type: "hook-start", hook: "docs", iteration: 1, parallel: true, log: "l" },
      ...attempt("US-001", 1).slice(0, 3),
      { ...wait, remainingMs: 1, message: "limit" },
      { type: "wait-end", agent: "claude", waitedMs: 60_000, interrupted: false },
      { type: "hook-end", hook: "docs", iteration: 1, status: "failed", exitCode: 3, durationMs: 5, message: "exit 3" },
      { type: "commit", commit: "abcdef1", subject: "whatever a hook's commit is called", hook: "docs" },
      { type: "state-restored", paths: ["scripts/ralph/prd.json"] },
      { type: "note", level: "warn", message: "not committed" },
      ...attempt("US-001", 1, { result: "trespassed", settlement: "open", message: "wrote x" }).slice(-1),
      { type: "trespass", by: "agent", paths: ["x"], diff: "+x" },
      runEnd("failed", ["wrote outside the allowed paths: x"]),
    ]);

    expect(report.answers).toEqual([{ id: "gate.run", question: "Run it?", answer: "yes", source: "approve" }]);
    expect(report.waits).toMatchObject([{ agent: "claude", waitedMs: 60_000, message: "limit" }]);
    expect(report.hooks).toMatchObject([{ hook: "docs", status: "failed", exitCode: 3, log: "l" }]);
    expect(report.restored).toMatchObject([{ item: "US-001", paths: ["scripts/ralph/prd.json"] }]);
    expect(report.warnings).toMatchObject([{ item: "US-001", message: "not committed" }]);
    expect(report.trespasses).toMatchObject([{ item: "US-001", by: "agent", paths: ["x"], diff: "+x" }]);
    expect(report.commits).toMatchObject([{ subject: "whatever a hook's commit is called" }]);
    expect(report.items[0]?.state).toBe("trespassed");
  });

  test("a step and a reviewing agent inside the loop are part of it", async () => {
    const [start, ...rest] = attempt("US-001", 1, {}, [{ name: "npm test", ok: true }]);
    const reviewer = { type: "turn-start", agent: "codex", transcript: "r.log" } as const;
    const report = await reportOf([
      RUN_START,
      { type: "step-start", step: "baseline", title: "b" },
      { type: "step-end", step: "baseline", status: "failed", message: "npm test fails already" },
      start as RalphEvent,
      ...rest.slice(0, -1),
      { type: "check-start", name: "review", scope: "", number: 2, total: 2 },
      reviewer,
      { type: "turn-end", agent: "codex", reason: "completed", message: null, durationMs: 1, usage: UNKNOWN },
      { type: "check-end", name: "review", scope: "", ok: true, exitCode: 0, durationMs: 1, tail: "" },
      {
        type: "experiments",
        item: { id: "US-001", kind: "story", title: "t" },
        findings: ["a.test.ts"],
        tried: [],
        blocked: false,
      },
      rest.at(-1) as RalphEvent,
      runEnd("passed"),
    ]);

    expect(report.parts.map(({ name }) => name)).toEqual(["exec"]);
    expect(report.notes.map(({ message }) => message)).toEqual(["baseline: failed, npm test fails already"]);
    expect(report.items[0]?.attempts[0]?.checks.map(({ name, beforeTurn }) => [name, beforeTurn])).toEqual([
      ["npm test", false],
      ["review", false],
    ]);
    expect(report.agents.map(({ name, turns }) => [name, turns])).toEqual([["claude", 1], ["codex", 1]]);
    expect(report.experiments).toMatchObject([{ item: "US-001", blocked: false }]);
    expect(report).toMatchObject({ status: "passed", counts: { verified: 1 } });
  });

  test("an empty file is a run of which nothing was recorded", async () => {
    expect(await reportOf([])).toMatchObject({ state: "empty", status: null, items: [], durationMs: null });
  });

  test("reads a large file in memory that does not grow with it", async () => {
    const root = projectWith(ndjson([RUN_START, ...attempt("US-001", 1).slice(0, 3)]));
    const file = join(root, "scripts/ralph/runs", RUN, "events.ndjson");
    const words = ndjson(Array.from({ length: 1000 }, () => ({ type: "agent-text", text: "x".repeat(1000) } as const)));
    const handle = openSync(file, "a");
    for (let times = 0; times < 60; times++) writeSync(handle, words);
    writeSync(handle, ndjson([...attempt("US-001", 1).slice(3), runEnd("passed")]));
    closeSync(handle);

    const { result: report, peak } = await peakOf(() => reportIn(root));

    expect(report).toMatchObject({ status: "passed", events: { malformed: 0, count: 60_007 } });
    expect(JSON.stringify(report).length).toBeLessThan(10_000);
    expect(peak).toBeLessThan(50 * 1024 * 1024);
  });

  test("its JSON is what the schema says, and nothing else", async () => {
    const report = await reportOf([
      RUN_START,
      ...attempt("US-001", 1, { result: "failed", settlement: "parked", message: "no" }, [{ name: "t", ok: false }]),
      { type: "hook-start", hook: "docs", iteration: 1, parallel: true, log: "l" },
      runEnd("blocked", ["US-001: no"]),
    ]);

    const parsed = REPORT_SCHEMA.parse(report);

    expect(parsed).toEqual(report);
    expect(reportJsonSchema()).toMatchObject({ title: "ralph report", type: "object" });
    expect(z.toJSONSchema(REPORT_SCHEMA)).toHaveProperty("properties.items");
  });
});
