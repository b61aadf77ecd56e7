import { describe, expect, test } from "vitest";
import { createBatchReader } from "../../../lib/git/batch_reader.ts";
import { branchesOf } from "../../../lib/workflows/spec/history/read_branches.ts";
import { lineChanges } from "../../../lib/workflows/spec/history/line_changes.ts";
import fc from "fast-check";

describe("branchesOf()", () => {
  test("takes the first-parent line for a branch's own and a merged branch's name from its merge", () => {
    const commit = (
      hash: string,
      parents: string,
      subject = "",
    ): { hash: string; parents: string[]; subject: string } => ({
      hash,
      parents: parents.split(" ").filter(Boolean),
      subject,
    });
    const commits = [
      commit("m", "b f2", "Merge branch 'topic'"),
      commit("b", "a"),
      commit("f2", "f1"),
      commit("f1", "a"),
      commit("a", ""),
      commit("o", "b"),
    ];

    const names = branchesOf(commits, [{ name: "open", hash: "o" }, { name: "main", hash: "m" }], "main");

    expect(Object.fromEntries(names)).toEqual({ m: "main", b: "main", a: "main", o: "open", f2: "topic", f1: "topic" });
  });
});

describe("lineChanges()", () => {
  test("is what the two texts do not share, line for line, whatever they are", () => {
    const text = fc.array(fc.constantFrom("a", "b", "ab", "ba", "x".repeat(5000), "é"), { maxLength: 12 }).map((
      lines,
    ) => lines.map((line) => `${line}\n`).join(""));
    const count = (lines: readonly string[]): Record<string, number> => {
      const counts: Record<string, number> = {};
      for (const line of lines) counts[line] = (counts[line] ?? 0) + 1;
      return counts;
    };
    fc.assert(
      fc.property(text, text, (before, after) => {
        const { removed, added } = lineChanges(Buffer.from(before), Buffer.from(after));
        const [old, now] = [count(before.split("\n")), count(after.split("\n"))];
        const less = Object.entries(old).flatMap(([line, times]) =>
          Array.from({ length: Math.max(0, times - (now[line] ?? 0)) }, () => line)
        );
        const more = Object.entries(now).flatMap(([line, times]) =>
          Array.from({ length: Math.max(0, times - (old[line] ?? 0)) }, () => line)
        );
        expect([removed.toSorted(), added.toSorted()]).toEqual([
          less.filter(Boolean).toSorted(),
          more.filter(Boolean).toSorted(),
        ]);
      }),
      { numRuns: 500 },
    );
  });
});

describe("createBatchReader()", () => {
  test("cuts contents right wherever the chunks are cut", () => {
    const stream = Buffer.from("a1 blob 5\nab\ncd\na2:x missing\na3 blob 0\n\na4 blob 3\néx\n");
    fc.assert(fc.property(fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }), (sizes) => {
      const found: (string | null)[] = [];
      const read = createBatchReader((content) => found.push(content?.toString("utf8") ?? null));
      for (let at = 0, turn = 0; at < stream.length; turn++) {
        const size = sizes[turn % sizes.length] as number;
        read(stream.subarray(at, at + size));
        at += size;
      }
      expect(found).toEqual(["ab\ncd", null, "", "éx"]);
    }));
  });

  test("keeps no more of each content than it is told to", () => {
    const found: (string | null)[] = [];
    const read = createBatchReader((content) => found.push(content?.toString("utf8") ?? null), 3);

    for (const byte of Buffer.from("a1 blob 5\nab\ncd\na2:x missing\na3 blob 2\nxy\n")) read(Buffer.from([byte]));

    expect(found).toEqual(["ab\n", null, "xy"]);
  });
});
