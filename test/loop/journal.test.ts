import { join } from "node:path";
import { appendFile, readFile, writeFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { temporaryDirectory } from "../../lib/host/files.ts";
import { openJournal } from "../../lib/loop/journal/journal.ts";
import type { Attempt, Item } from "../../lib/backlog/types.ts";

const KEY = { backlog: "exec", scope: "" };
const ITEM: Item = { id: "US-1", kind: "story", title: "one", fingerprint: "a", data: { n: 1 } };

function failed(id: string, number: number, message = "no"): Attempt {
  return {
    id,
    number,
    claim: null,
    turn: null,
    verification: null,
    status: "failed",
    reason: "checks-failed",
    message,
  };
}

describe("openJournal()", () => {
  test("knows an item beside others to be at the commit that landed last", async () => {
    await using folder = await temporaryDirectory("journal");
    const file = join(folder.path, "journal.jsonl");
    const journal = await openJournal(file);
    const [begun, landed] = ["1".repeat(40), "2".repeat(40)];
    for (const id of ["US-1", "US-2"]) {
      await journal.begun(KEY, { ...ITEM, id }, { id: `r.${id}`, number: 1, userPaths: [], head: begun, apart: true });
    }

    const passed = {
      id: "US-1",
      kind: "story",
      fingerprint: "a",
      status: "verified",
      commit: landed,
      checks: [],
    } as const;
    await journal.settled(KEY, ITEM, failed("r.US-1", 1), { settlement: { status: "passed" }, kept: {}, passed });

    expect((await openJournal(file)).open(KEY).map(({ item, head }) => [item.id, head])).toEqual([["US-2", landed]]);
  });

  test("remembers a begun item as open, and the attempt once settling has begun", async () => {
    await using folder = await temporaryDirectory("journal");
    const file = join(folder.path, "journal.jsonl");
    const journal = await openJournal(file);

    await journal.begun(KEY, ITEM, { id: "r.1", number: 1, userPaths: ["mine.txt"] });
    const begun = (await openJournal(file)).open(KEY);
    await journal.settling(KEY, ITEM, failed("r.1", 1), { work: { "a.txt": "hash" } });
    const settling = (await openJournal(file)).open(KEY);

    expect(begun).toEqual([{
      item: ITEM,
      attemptId: "r.1",
      number: 1,
      userPaths: ["mine.txt"],
      attempt: null,
      work: {},
    }]);
    expect(settling[0]?.attempt?.status).toBe("failed");
    expect(settling[0]?.work).toEqual({ "a.txt": "hash" });
  });

  test("counts attempts by the id until the item passes, is parked, or the run ends", async () => {
    const journal = await openJournal(null);
    const attempt = async (number: number, settlement: "open" | "parked" | "passed"): Promise<void> => {
      await journal.begun(KEY, ITEM, { id: `r.${number}`, number, userPaths: [] });
      await journal.settling(KEY, ITEM, failed(`r.${number}`, number), { work: {} });
      await journal.settled(KEY, ITEM, failed(`r.${number}`, number), {
        settlement: { status: settlement, reason: "x" } as never,
        kept: {},
      });
    };

    await attempt(1, "open");
    await attempt(2, "open");
    expect(journal.history(KEY, ITEM).map(({ number }) => number)).toEqual([1, 2]);
    expect(journal.history(KEY, { ...ITEM, fingerprint: "b" })).toHaveLength(2); // another text is no fresh start within a run
    await attempt(3, "parked");
    expect(journal.history(KEY, ITEM)).toEqual([]);
    expect(journal.parked(KEY)).toEqual([{ id: "US-1", fingerprint: "a", reason: "x" }]);
    await attempt(1, "open");
    await journal.runEnded(KEY, false);
    expect(journal.history(KEY, ITEM)).toEqual([]);
  });

  test("keeps what the last lines of the newest run named, in a journal started anew too", async () => {
    await using folder = await temporaryDirectory("journal");
    const file = join(folder.path, "journal.jsonl");
    const journal = await openJournal(file);
    const other = { backlog: "gsd", scope: "01" };
    const notice = { kind: "tests-changed", subject: "US-1", message: "a.test.ts +0 −3" };

    await journal.noticed(other, []);
    await journal.noticed(KEY, [notice]);
    await appendFile(file, " ".repeat(1024 * 1024) + "\n");
    const again = await openJournal(file);
    await again.runEnded(KEY, false);
    const compacted = await openJournal(file);

    expect((await readFile(file, "utf8")).length).toBeLessThan(1024 * 1024);
    expect(compacted.named()).toEqual({ ...KEY, notices: [notice] });
  });

  test("an interrupted attempt is not counted", async () => {
    const journal = await openJournal(null);
    const interrupted: Attempt = {
      id: "r.1",
      number: 1,
      claim: null,
      turn: null,
      verification: null,
      status: "interrupted",
    };

    await journal.begun(KEY, ITEM, { id: "r.1", number: 1, userPaths: [] });
    await journal.settling(KEY, ITEM, interrupted, { work: {} });
    await journal.settled(KEY, ITEM, interrupted, { settlement: { status: "open" }, kept: {} });

    expect(journal.history(KEY, ITEM)).toEqual([]);
    expect(journal.open(KEY)).toEqual([]);
  });

  test("a line torn by a kill is left out and the next one starts a line of its own", async () => {
    await using folder = await temporaryDirectory("journal");
    const file = join(folder.path, "journal.jsonl");
    await (await openJournal(file)).begun(KEY, ITEM, { id: "r.1", number: 1, userPaths: [] });
    await appendFile(file, '{"type":"settling","v":1,"key":"[\\"ex');

    const journal = await openJournal(file);
    await journal.settling(KEY, ITEM, failed("r.1", 1), { work: {} });
    await journal.settled(KEY, ITEM, failed("r.1", 1), {
      settlement: { status: "open" },
      kept: { "left.txt": "h" },
    });

    const again = await openJournal(file);
    expect(again.open(KEY)).toEqual([]);
    expect(again.history(KEY, ITEM)).toHaveLength(1);
    expect([...again.leftovers(KEY)]).toEqual([["left.txt", { itemId: "US-1", content: "h" }]]);
  });

  test("a character torn by a kill is no change that a turn has made", async () => {
    await using folder = await temporaryDirectory("journal");
    const file = join(folder.path, "journal.jsonl");
    await writeFile(file, Buffer.from([...Buffer.from('{"type":"beg'), 0xc3]));

    const journal = await openJournal(file);
    await journal.refresh();
    await journal.begun(KEY, ITEM, { id: "r.1", number: 1, userPaths: [] });
    expect(journal.isFixed).toBe(false);
    expect((await openJournal(file)).open(KEY)).toHaveLength(1);

    await appendFile(file, "{}\n");
    await journal.settling(KEY, ITEM, failed("r.1", 1), { work: {} });
    expect(journal.isFixed).toBe(true);
  });

  test("a large journal is started anew when a run ends and says the same for what is to come", async () => {
    await using folder = await temporaryDirectory("journal");
    const file = join(folder.path, "journal.jsonl");
    const journal = await openJournal(file);
    const other: Item = { id: "US-2", kind: "story", title: "two", data: null };
    await journal.begun(KEY, ITEM, { id: "r.1", number: 1, userPaths: [] });
    await journal.settling(KEY, ITEM, failed("r.1", 1, "x".repeat(1_100_000)), { work: {} });
    await journal.settled(KEY, ITEM, failed("r.1", 1), {
      settlement: { status: "parked", reason: "gave up" },
      kept: { "f.ts": "h", "g.ts": "h" },
      overwritten: { "mine.ts": { content: "m", ref: "refs/ralph/kept/r" } },
    });
    await journal.begun(KEY, other, { id: "r.2", number: 1, userPaths: [], head: "2".repeat(40) });
    const judging = journal.judging(KEY);

    await journal.runEnded({ backlog: "gsd", scope: "" }, false);

    const text = await readFile(file, "utf8");
    const again = await openJournal(file);
    expect(text.length).toBeLessThan(2000);
    expect(again.open(KEY)).toMatchObject([{ head: "2".repeat(40) }]);
    expect(again.judging(KEY)).toEqual(judging);
    expect([...again.overwritten(KEY).values()]).toEqual([{ itemId: "US-1", content: "m", ref: "refs/ralph/kept/r" }]);
    expect(again.leftovers(KEY).get("g.ts")).toEqual({ itemId: "US-1", content: "h" });
    expect(again.parked(KEY)).toEqual([{ id: "US-1", fingerprint: "a", reason: "gave up" }]);
    expect(again.open(KEY).map(({ item }) => item.id)).toEqual(["US-2"]);
    expect(again.leftovers(KEY).get("f.ts")).toEqual({ itemId: "US-1", content: "h" });
    expect((await readFile(`${file}.old`, "utf8")).length).toBeGreaterThan(1_100_000);
  });

  test("refresh() reads what another process wrote", async () => {
    await using folder = await temporaryDirectory("journal");
    const file = join(folder.path, "journal.jsonl");
    const [one, other] = [await openJournal(file), await openJournal(file)];
    await one.begun(KEY, ITEM, { id: "r.1", number: 1, userPaths: [] });

    expect(other.open(KEY)).toEqual([]);
    await other.refresh();
    expect(other.open(KEY)).toHaveLength(1);
  });

  test("lines of another backlog or scope do not mix", async () => {
    await using folder = await temporaryDirectory("journal");
    const file = join(folder.path, "journal.jsonl");
    await writeFile(file, "");
    const journal = await openJournal(file);

    await journal.begun(KEY, ITEM, { id: "r.1", number: 1, userPaths: [] });

    expect(journal.open({ backlog: "exec", scope: "other" })).toEqual([]);
    expect(journal.open({ backlog: "todo", scope: "" })).toEqual([]);
  });
});
