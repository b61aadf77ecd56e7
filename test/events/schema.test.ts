import { describe, expect, test } from "vitest";
import { envelopeOf } from "../../lib/events/event_log.ts";
import { EVENT_LINE_SCHEMA, EVENT_SCHEMAS, eventsJsonSchema } from "../../lib/events/schema.ts";
import type { RalphEvent } from "../../lib/events/types.ts";

const usage = {
  inputTokens: 1,
  outputTokens: null,
  cachedTokens: 0,
  reasoningTokens: null,
  costUsd: 0.5,
  estimated: true,
} as const;
const total = { ...usage, turns: 1, turnsWithoutTokens: 0, turnsWithoutCost: 0 };
const item = { id: "a", kind: "story", title: "A" };

/** One of each, with every field: the types hold them to the union, the strict schemas below to the schema. */
const SAMPLES: { readonly [Type in RalphEvent["type"]]: Required<Extract<RalphEvent, { type: Type }>> } = {
  "run-start": {
    type: "run-start",
    workflow: "exec",
    root: "/r",
    agent: "claude",
    folder: "/r/runs/1",
    scope: "auth",
    head: "a",
    goal: "add login",
    branch: "ralph/login",
    workers: 4,
    strict: true,
  },
  "run-end": {
    type: "run-end",
    status: "passed",
    reasons: ["x"],
    iterations: 1,
    usage: total,
    notices: [{ kind: "k", subject: "s", message: "" }],
    work: { branch: "b", base: "main", from: "a", head: "c", commits: 1, files: 2, added: 3, removed: 0 },
    checked: "c",
  },
  "landing-start": { type: "landing-start", item, behind: 2 },
  "landing-end": {
    type: "landing-end",
    item,
    result: "conflict",
    checkedAgain: false,
    conflicts: 1,
    paths: ["a"],
    with: ["b"],
  },
  "items-reopened": { type: "items-reopened", ids: ["US-1"], reason: "x" },
  "step-start": { type: "step-start", step: "plan", title: "Plan" },
  "step-end": { type: "step-end", step: "final-check", status: "passed", message: "m", unverified: ["US-1"] },
  "iteration-start": {
    type: "iteration-start",
    iteration: 1,
    item,
    attempt: 1,
    passed: 0,
    total: null,
    criteria: ["it works"],
    limit: 9,
  },
  "iteration-end": {
    type: "iteration-end",
    iteration: 1,
    item,
    attempt: 1,
    result: "verified",
    settlement: "passed",
    message: null,
    durationMs: 1.5,
    usage,
    reopened: ["b"],
    changes: { paths: ["a"], files: 1, added: 2, removed: 0 },
  },
  "turn-start": { type: "turn-start", agent: "claude", transcript: "t.log", route: "provider.route[0]: after 2" },
  "turn-end": { type: "turn-end", agent: "claude", reason: "completed", message: null, durationMs: 1, usage },
  "agent-start": { type: "agent-start", session: "s", model: null },
  "agent-text": { type: "agent-text", text: "hello" },
  "agent-tool-call": { type: "agent-tool-call", id: null, tool: "Bash", input: "ls" },
  "agent-tool-result": { type: "agent-tool-result", id: "1", ok: true, output: "a" },
  "agent-file-change": { type: "agent-file-change", path: "a.ts", change: "added" },
  "agent-usage": { type: "agent-usage", scope: "total", usage },
  "agent-rate-limit": { type: "agent-rate-limit", status: "rejected", untilMs: 1, waitMs: null, message: "m" },
  "agent-error": { type: "agent-error", kind: "auth", fatal: true, message: "m" },
  "agent-end": { type: "agent-end", status: "completed", message: null },
  "agent-line-invalid": { type: "agent-line-invalid", reason: "not JSON", line: "x" },
  "wait-start": {
    type: "wait-start",
    agent: "claude",
    reason: "rate-limit",
    until: "2026-11-22T07:00:00.000Z",
    remainingMs: 1,
    message: "m",
  },
  "wait-delta": { type: "wait-delta", agent: "claude", remainingMs: 1 },
  "wait-end": { type: "wait-end", agent: "claude", waitedMs: 1, interrupted: false },
  "check-start": { type: "check-start", name: "test", scope: "a", number: 1, total: 2 },
  "check-end": {
    type: "check-end",
    name: "test",
    scope: "a",
    ok: false,
    exitCode: null,
    durationMs: 1,
    tail: "",
    failedBefore: true,
    id: "0123456789abcdef",
    command: "npm test",
    beforeWork: true,
    tests: { passed: 1, failed: 1, skipped: 0, failures: ["a"] },
  },
  "experiments": {
    type: "experiments",
    item,
    findings: [],
    tried: ["the checks fail without the work"],
    blocked: false,
  },
  "hook-start": { type: "hook-start", hook: "docs", iteration: 1, parallel: true, log: "logs/hook.log" },
  "hook-end": {
    type: "hook-end",
    hook: "docs",
    iteration: 1,
    status: "failed",
    exitCode: 1,
    durationMs: 5,
    message: "exit 1",
  },
  "sandbox": { type: "sandbox", on: true, by: "bubblewrap", network: ["a.example"] },
  "host-refused": { type: "host-refused", host: "b.example", port: 443, by: "turn" },
  "state-restored": { type: "state-restored", paths: ["a"] },
  "trespass": { type: "trespass", by: "planner", paths: ["a"], diff: "+x" },
  "commit": { type: "commit", commit: "abc", subject: "s", hook: "docs" },
  "steered": { type: "steered", action: "tell", origin: "page", text: "use tabs", item: "US-001" },
  "pause-start": { type: "pause-start" },
  "pause-end": { type: "pause-end", pausedMs: 12 },
  "question": { type: "question", id: "q", message: "m" },
  "answer": { type: "answer", id: "q", answer: "yes", source: "terminal" },
  "text": { type: "text", title: "t", lines: ["l"] },
  "note": { type: "note", level: "warn", message: "m", hook: "docs" },
};

describe("the schema of events", () => {
  test.each(Object.entries(SAMPLES))("knows every field of %s, and no other", (type, sample) => {
    const schema = EVENT_SCHEMAS[type as RalphEvent["type"]];

    expect(schema.strict().parse(sample)).toEqual(sample);
    expect(Object.keys(schema.shape).toSorted()).toEqual(Object.keys(sample).toSorted());
  });

  test("takes a line as it is written, with version, time and run", () => {
    const line = envelopeOf(SAMPLES["turn-end"], "run-1", { now: () => 0 });

    expect(EVENT_LINE_SCHEMA.parse(JSON.parse(JSON.stringify(line)))).toEqual(line);
    expect(EVENT_LINE_SCHEMA.parse({ ...line, lane: 1 })).toEqual({ ...line, lane: 1 });
    expect(EVENT_LINE_SCHEMA.safeParse({ ...line, v: 2 }).success).toBe(false);
    expect(EVENT_LINE_SCHEMA.safeParse({ ...line, type: "no-such-event" }).success).toBe(false);
  });

  test("says of every event what it is", () => {
    const schema = eventsJsonSchema() as { anyOf: readonly { description?: string }[] };

    expect(schema.anyOf.filter(({ description = "" }) => !/^[A-Z].+\.$/.test(description))).toEqual([]);
  });

  test("is printed as JSON Schema", () => {
    const schema = eventsJsonSchema() as { anyOf: readonly { properties: { type: { const: string } } }[] };

    expect(schema.anyOf.map(({ properties }) => properties.type.const).toSorted()).toEqual(
      Object.keys(SAMPLES).toSorted(),
    );
  });
});
