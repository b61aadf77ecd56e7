import { describe, expect, test } from "vitest";
import { changesTests } from "../../lib/backlog/changes_tests.ts";
import type { Attempt, Item } from "../../lib/backlog/types.ts";
import { foldJournal, type JournalState, keptLines } from "../../lib/loop/journal/journal_fold.ts";

const KEY = { backlog: "exec", scope: "" };
const NAMED = { v: 1, key: JSON.stringify(["exec", ""]) } as const;

function attempt(changedFiles: readonly string[]): Attempt {
  return { status: "not-done", message: "", turn: { changedFiles } } as unknown as Attempt;
}

/** One attempt at an item, settled as open, or as passed at a commit. */
function attempted(state: JournalState, item: Item, head: string, changed: readonly string[], commit?: string): void {
  const of = { ...NAMED, itemId: item.id, fingerprint: null };
  state.apply({ type: "begun", ...NAMED, item, attemptId: "r.1", number: 1, userPaths: [], head });
  state.apply({ type: "settling", ...of, attempt: attempt(changed), work: {} });
  const passed = {
    id: item.id,
    kind: "story",
    fingerprint: null,
    status: "verified",
    commit: commit ?? null,
    checks: [],
  } as const;
  const end = commit === undefined
    ? { settlement: { status: "open" } } as const
    : { settlement: { status: "passed" }, passed } as const;
  state.apply({ type: "settled", ...of, attemptId: "r.1", kept: {}, ...end });
}

function item(id: string, criteria: readonly string[] = []): Item {
  return { id, kind: "story", title: `story ${id}`, criteria, data: null };
}

describe("journal.judging()", () => {
  test("what is old is what was there before the first attempt since a run last passed", () => {
    const state = foldJournal("");
    attempted(state, item("a"), "c1", ["test/a.mjs"]);
    attempted(state, item("b"), "c2", []);
    expect(state.slot(KEY).judging).toMatchObject({
      base: "c1",
      items: [{ id: "a", changed: ["test/a.mjs"] }, { id: "b" }],
    });

    state.apply({ type: "run-ended", ...NAMED, passed: true, head: "c3" });
    attempted(state, item("c"), "c4", []);

    expect(state.slot(KEY).judging).toMatchObject({ base: "c4", steps: [] });
  });

  test("what a passed run named and nobody agreed to is not old for the next run", () => {
    const state = foldJournal("");
    attempted(state, item("a"), "c1", ["conftest.py"]);
    state.apply({ type: "run-ended", ...NAMED, passed: true, head: "c2", isDoubted: true });
    attempted(state, item("b"), "c2", []);
    const read = foldJournal(keptLines(state).map((line) => JSON.stringify(line)).join("\n"));

    for (const one of [state, read]) {
      expect(one.slot(KEY).judging).toMatchObject({
        base: "c1",
        items: [{ id: "a", changed: ["conftest.py"] }, { id: "b" }],
      });
    }

    state.apply({ type: "run-ended", ...NAMED, passed: true, head: "c3" });
    expect(state.slot(KEY).judging.base).toBeNull();
  });

  test("between two runs that ended in order a person worked; after a kill no one knows", () => {
    const state = foldJournal("");
    attempted(state, item("a"), "c1", []);
    state.apply({ type: "run-ended", ...NAMED, passed: false, head: "c2" });
    attempted(state, item("a"), "c3", []);
    attempted(state, item("a"), "c4", []); // the run before this one was killed

    expect(state.slot(KEY).judging).toMatchObject({ base: "c1", steps: [{ from: "c2", to: "c3" }] });
  });

  test("what an item may change is old once it has passed, and no one's change any more", () => {
    const state = foldJournal("");
    attempted(state, item("a"), "c1", ["test/a.mjs", "test/b.mjs"]);
    attempted(state, item("b", ["Changes tests: `test/a*`"]), "c2", ["test/a.mjs", "src/a.mjs"], "c3");

    expect(state.slot(KEY).judging).toMatchObject({
      steps: [{ from: "c1", to: "c3", globs: ["test/a.mjs"] }],
      items: [{ id: "a", changed: ["test/b.mjs"] }, { id: "b", changed: ["src/a.mjs"] }],
    });
  });

  test("is kept when the journal is started anew", () => {
    const state = foldJournal("");
    attempted(state, item("a"), "c1", ["test/a.mjs"]);

    const text = keptLines(state).map((line) => JSON.stringify(line)).join("\n");

    expect(foldJournal(text).slot(KEY).judging).toEqual(state.slot(KEY).judging);
  });
});

test.each([
  [["Changes tests: `test/a/**`"], ["test/a/**"]],
  [["It rounds. Changes tests: `a.mjs`, `b.mjs` and more"], ["a.mjs", "b.mjs"]],
  [["Never-Changes tests: `a`", "changes tests", "Changes tests: all", "`Changes tests:` a"], []],
])("changesTests(%j) is %j", (criteria, globs) => {
  expect(changesTests(criteria)).toEqual(globs);
});
