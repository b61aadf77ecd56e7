import { describe, expect, test } from "vitest";
import { createBatchReader } from "../../../lib/git/batch_reader.ts";
import { branchesOf } from "../../../lib/workflows/spec/history/read_branches.ts";
import { walked } from "../../../lib/workflows/spec/history/walk.ts";
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

    const stream = Buffer.from("a1 blob 5\nab\ncd\na2:x missing\na3 blob 2\nxy\n");
    for (const byte of stream) read(Buffer.from([byte]));
    read(stream);

    expect(found).toEqual(["ab\n", null, "xy", "ab\n", null, "xy"]);
  });
});

describe("a task's life", () => {
  const commit = { hash: "a", short: "a", parents: [], date: "2026-01-18T10:00:00", committed: 1, author: "a@b.c" };
  const task = (id: string, more: Readonly<Record<string, unknown>> = {}): object => ({
    t: "task",
    id,
    spec: "a.md",
    name: id,
    s: "p",
    ...more,
  });
  const reject = (id: string, doneAt: string): object => ({ t: "reject", id, done_at: doneAt, reason: "bad" });

  /** The lives after these versions of the plan, one commit each; `null`: the file is gone. */
  function livesOf(...versions: readonly (readonly object[] | null)[]): Record<string, readonly unknown[]> {
    const hash = (index: number): string => `c${index}`;
    const commits = versions.map((_, index) => ({
      ...commit,
      hash: hash(index),
      parents: index === 0 ? [] : [hash(index - 1)],
      committed: index,
    }));
    const texts = versions.map((lines) => (lines ?? []).map((line) => JSON.stringify(line)));
    const changes = new Map(texts.map((text, index) => [hash(index), [
      ...(texts[index - 1] ?? []).map((line) => `-${line}`),
      ...text.map((line) => `+${line}`),
    ]]));
    return Object.fromEntries(
      walked(commits, changes).lives.map((
        { task: { id }, outcome, lastDone },
      ) => [id, [outcome, lastDone?.order ?? null]]),
    );
  }
  const spec = (name: string): object => ({ t: "spec", spec: name });

  test("that was done and rejected ends as rejected, although task and tombstone left the file together", () => {
    const [open, done] = [task("t-1"), task("t-1", { s: "d", done_at: "x" })];
    expect(
      livesOf([spec("a.md"), open], [spec("a.md"), done], [spec("a.md"), open, reject("t-1", "x")], [spec("b.md")]),
    )
      .toEqual({ "t-1": ["rejected", 1] });
  });

  test("that was done is done once, when its commit is written down afterwards", () => {
    const done = task("t-1", { s: "d" });
    const named = task("t-1", { s: "d", done_at: "c0" });
    expect(livesOf([spec("a.md"), done], [spec("a.md"), named])).toEqual({ "t-1": ["done", 0] });
    expect(livesOf([spec("a.md"), done], [spec("a.md"), named], [spec("a.md")])).toEqual({ "t-1": ["accepted", 0] });
    expect(livesOf([spec("a.md"), done], [spec("a.md"), reject("t-1", "c0")])).toEqual({ "t-1": ["rejected", 0] });
    expect(livesOf([spec("a.md"), done, reject("t-1", "b9")], [spec("a.md"), reject("t-1", "b9")])).toEqual({
      "t-1": ["accepted", 0],
    });
    const anew = task("t-1", { s: "d", done_at: "c1" });
    expect(livesOf([spec("a.md"), named], [spec("a.md"), anew])).toEqual({ "t-1": ["done", 1] });
  });

  test("that was done is accepted when it leaves, and cancelled where the file went over to another spec or away", () => {
    const done = task("t-1", { s: "d", done_at: "x" });
    const first = [spec("a.md"), done, task("t-2")];
    expect(livesOf(first, [spec("a.md")])).toEqual({ "t-1": ["accepted", 0], "t-2": ["cancelled", null] });
    expect(livesOf(first, [spec("b.md")])).toEqual({ "t-1": ["cancelled", 0], "t-2": ["cancelled", null] });
    expect(livesOf(first, null)).toEqual({ "t-1": ["cancelled", 0], "t-2": ["cancelled", null] });
  });
});
