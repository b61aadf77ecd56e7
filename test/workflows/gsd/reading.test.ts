import { readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { RACY_MS } from "../../../lib/host/hash.ts";
import { type PlanMemo, readPlanning } from "../../../lib/workflows/gsd/read_planning.ts";
import { temporaryRepository } from "../../../lib/testing/temporary_repository.ts";
import { writeFiles } from "../../repository.ts";
import { ONE, planText, PROJECT, summaryOf } from "./planning.ts";

test("a reading with a memo sees every change that one without it sees", async () => {
  await using tree = await temporaryRepository({ files: PROJECT, commit: false });
  const source = { root: tree.path, memo: new Map() };
  const first = await readPlanning(source);
  await readPlanning(source);

  writeFiles(tree.path, { [ONE]: planText("other.txt"), [summaryOf(ONE)]: "done\n" });
  const second = await readPlanning(source);

  expect(second).toEqual(await readPlanning({ root: tree.path }));
  expect(second).not.toEqual(first);
});

test("a phase whose files are as they were is not read again, and each change of its files is seen", async () => {
  await using tree = await temporaryRepository({ files: PROJECT, commit: false });
  const memo: PlanMemo = new Map();
  const source = { root: tree.path, memo };
  const fresh = () => readPlanning({ root: tree.path });
  await readPlanning(source);
  expect(memo.size, "files so young are read again").toBe(0);
  await new Promise((resolve) => setTimeout(resolve, RACY_MS + 100));
  const first = await readPlanning(source);
  const phase = memo.get("01")?.phase;
  expect(phase).toBeDefined();

  await readPlanning(source);
  expect(memo.get("01")?.phase).toBe(phase);

  // the same size and the same time of its last write: the time of its change tells
  const path = join(tree.path, ONE);
  const before = statSync(path);
  const text = readFileSync(path, "utf8");
  writeFileSync(path, text.replaceAll(/[a-z](?=\.txt)/g, (letter) => letter === "z" ? "y" : "z"));
  utimesSync(path, before.atime, before.mtime);
  const second = await readPlanning(source);
  expect(second).toEqual(await fresh());
  expect(second).not.toEqual(first);

  await new Promise((resolve) => setTimeout(resolve, RACY_MS + 100));
  await readPlanning(source);
  writeFiles(tree.path, { [summaryOf(ONE)]: "done\n" });
  expect(await readPlanning(source), "a new file").toEqual(await fresh());
  rmSync(join(tree.path, summaryOf(ONE)));
  expect(await readPlanning(source), "a file that is gone").toEqual(second);
  const roadmap = readFileSync(join(tree.path, ".planning/ROADMAP.md"), "utf8");
  writeFiles(tree.path, { ".planning/ROADMAP.md": roadmap.replaceAll("[ ]", "[x]") });
  const ticked = await readPlanning(source);
  expect(ticked, "what ROADMAP.md says of it").toEqual(await fresh());
  expect(ticked).not.toEqual(second);
});
