import { describe, expect, test } from "vitest";
import type { TreeSnapshot } from "../../lib/git/repository.ts";
import { createOwnership } from "../../lib/loop/settle/committer.ts";

function tree(contents: Readonly<Record<string, string | null>>): TreeSnapshot {
  const changed = Object.keys(contents).map((path) => ({ path, code: "??", untracked: true }));
  return { head: "c1", branch: "main", changed, contents: new Map(Object.entries(contents)) };
}

const NONE = { leftovers: new Map(), killed: null };

describe("createOwnership()", () => {
  test("what was dirty before the first turn is the user's, and a turn that changes it is told", () => {
    const ownership = createOwnership(NONE, tree({ "mine.txt": "1" }));
    ownership.beforeTurn(tree({ "mine.txt": "1" }), { id: "US-1" });

    const mixed = ownership.afterTurn("US-1", ["mine.txt", "new.txt"], tree({ "mine.txt": "2", "new.txt": "n" }));

    expect(mixed).toEqual(["mine.txt"]);
    expect(ownership.workOf("US-1")).toEqual({ "new.txt": "n" });
  });

  test("what a failed attempt left is still the item's in the next one, and gone once committed", () => {
    const ownership = createOwnership(NONE, tree({}));
    ownership.beforeTurn(tree({}), { id: "US-1" });
    ownership.afterTurn("US-1", ["a.ts"], tree({ "a.ts": "1" }));
    ownership.beforeTurn(tree({ "a.ts": "1" }), { id: "US-1" });
    ownership.afterTurn("US-1", ["b.ts"], tree({ "a.ts": "1", "b.ts": "1" }));

    expect(ownership.workOf("US-1")).toEqual({ "a.ts": "1", "b.ts": "1" });
    ownership.committed(["a.ts", "b.ts"]);
    expect(ownership.workOf("US-1")).toEqual({});
  });

  test("what the whole left uncommitted is its part's, and its part's part's after that", () => {
    const ownership = createOwnership(NONE, tree({}));
    ownership.beforeTurn(tree({}), { id: "whole" });
    ownership.afterTurn("whole", ["lib.ts"], tree({ "lib.ts": "1" }));

    ownership.beforeTurn(tree({ "lib.ts": "1" }), { id: "part", continues: ["whole"] });
    expect([ownership.workOf("whole"), ownership.workOf("part")]).toEqual([{}, { "lib.ts": "1" }]);
    ownership.beforeTurn(tree({ "lib.ts": "1" }), { id: "part of part", continues: ["part"] });
    expect([ownership.workOf("part"), ownership.workOf("part of part")]).toEqual([{}, { "lib.ts": "1" }]);
    expect([...ownership.userPaths]).toEqual([]);
  });

  test("what appears between two turns is the user's", () => {
    const ownership = createOwnership(NONE, tree({}));
    ownership.beforeTurn(tree({}), { id: "US-1" });
    ownership.afterTurn("US-1", [], tree({}));
    ownership.beforeTurn(tree({ "notes.md": "n" }), { id: "US-1" });

    ownership.afterTurn("US-1", ["notes.md"], tree({ "notes.md": "n2" }));

    expect(ownership.workOf("US-1")).toEqual({});
  });

  test("after a kill, what was not the user's when the turn began is the item's", () => {
    const killed = { itemId: "US-1", userPaths: ["mine.txt"] };

    const ownership = createOwnership({ leftovers: new Map(), killed }, tree({ "mine.txt": "1", "half.ts": "h" }));

    expect(ownership.workOf("US-1")).toEqual({ "half.ts": "h" });
  });

  test("after a kill, what another item had left is still that one's", () => {
    const killed = { itemId: "US-1", userPaths: [] };
    const leftovers = new Map([["a.ts", { itemId: "US-2", content: "1" }]]);

    const ownership = createOwnership({ leftovers, killed }, tree({ "a.ts": "1", "half.ts": "h" }));

    expect([ownership.workOf("US-1"), ownership.workOf("US-2")]).toEqual([{ "half.ts": "h" }, { "a.ts": "1" }]);
  });

  test("what an earlier run left is still the item's only while nobody changed it", () => {
    const leftovers = new Map([["a.ts", { itemId: "US-1", content: "1" }], ["b.ts", { itemId: "US-1", content: "1" }]]);

    const ownership = createOwnership({ leftovers, killed: null }, tree({ "a.ts": "1", "b.ts": "edited" }));

    expect(ownership.workOf("US-1")).toEqual({ "a.ts": "1" });
  });
});
