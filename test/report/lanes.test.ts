import { expect, test } from "vitest";
import { createFold } from "../../lib/report/fold.ts";
import { landingsText } from "../../lib/report/texts.ts";

test("what lanes do at the same time belongs to the item of each, and conflicts are counted with the turns that they cost", () => {
  const fold = createFold("events.ndjson");
  const item = (id: string) => ({ id, kind: "story", title: id });
  const usage = {
    inputTokens: 1,
    outputTokens: 1,
    cachedTokens: null,
    reasoningTokens: null,
    costUsd: null,
    estimated: false,
  };
  const take = (lane: number | null, event: object): void =>
    fold.take({ v: 1, at: "2026-11-22T10:00:00.000Z", run: "r", ...(lane === null ? {} : { lane }), ...event });
  const start = (id: string) => ({
    type: "iteration-start",
    iteration: 1,
    item: item(id),
    attempt: 1,
    passed: 0,
    total: 2,
  });
  const end = (id: string, iteration: number) => ({
    type: "iteration-end",
    iteration,
    item: item(id),
    attempt: 1,
    result: "verified",
    settlement: "passed",
    message: null,
    durationMs: 1,
    usage: null,
  });
  const landing = { type: "landing-end", checkedAgain: false, conflicts: 0, paths: [] };
  take(null, { type: "run-start", workflow: "exec", root: "/r", agent: "claude", folder: "/r/x" });
  take(3, { ...start("c"), iteration: 3 }); // this worker has landed nothing
  take(0, start("a"));
  take(1, { ...start("b"), iteration: 2 });
  take(0, { type: "turn-start", agent: "claude", transcript: "a.log" });
  take(1, { type: "turn-start", agent: "claude", transcript: "b.log" });
  for (const lane of [1, 0]) {
    take(lane, { type: "turn-end", agent: "claude", reason: "completed", message: null, durationMs: 1, usage });
  }
  take(1, { ...landing, item: item("b"), result: "conflict", conflicts: 1, paths: ["x.ts"] });
  take(0, { ...landing, item: item("a"), result: "landed", checkedAgain: true });
  take(0, { type: "commit", commit: "aaa", subject: "feat: a" });
  take(0, end("a", 1));
  take(1, { type: "commit", commit: "bbb", subject: "feat: b" });
  take(1, end("b", 2));

  const report = fold.end();

  expect(report.events).toMatchObject({ malformed: 0, unknown: 0 });
  expect(report.items.map(({ id, attempts, usage: used }) => [
    id,
    attempts[0]?.turns.map(({ transcript }) => transcript),
    attempts[0]?.commits.map(({ commit }) => commit),
    used.turns,
  ])).toEqual([["c", [], [], 0], ["a", ["a.log"], ["aaa"], 1], ["b", ["b.log"], ["bbb"], 1]]);
  expect(landingsText(report)).toBe("4 workers: 1 landing, 1 checked again; 1 conflict, which cost 1 turn");
});

test("an item that lands keeps its lane: the report has the workers that there are, and what landed together", () => {
  const fold = createFold("events.ndjson");
  const take = (lane: number | null, event: object): void =>
    fold.take({ v: 1, at: "2026-11-22T10:00:00.000Z", run: "r", ...(lane === null ? {} : { lane }), ...event });
  const item = { id: "a", kind: "story", title: "a" };
  take(null, { type: "run-start", workflow: "exec", root: "/r", agent: "claude", folder: "/r/x", workers: 2 });
  take(3, { type: "iteration-start", iteration: 1, item, attempt: 1, passed: 0, total: 2 });
  const how = { result: "landed", checkedAgain: true, conflicts: 0, paths: [], with: ["b", "c"] };
  take(3, { type: "landing-end", item, ...how });

  const report = fold.end();

  expect(landingsText(report)).toBe("2 workers: 1 landing, 1 checked again");
  expect(report.notes).toMatchObject([{ item: "a", message: "checked together with b, c" }]);
});
