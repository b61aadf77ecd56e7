import { expect, test } from "vitest";
import { readPlanning } from "../../../lib/workflows/gsd/read_planning.ts";
import { temporaryRepository } from "../../../lib/testing/temporary_repository.ts";
import { writeFiles } from "../../repository.ts";
import { ONE, planText, PROJECT, summaryOf } from "./planning.ts";

test("a reading with a memo sees every change that one without it sees, and parses no text twice", async () => {
  await using tree = await temporaryRepository({ files: PROJECT, commit: false });
  const memo = new Map();
  const source = { root: tree.path, memo };
  const first = await readPlanning(source);
  const parsed = memo.get(ONE);

  await readPlanning(source);
  expect(memo.get(ONE)?.parsed).toBe(parsed.parsed);

  writeFiles(tree.path, { [ONE]: planText("other.txt"), [summaryOf(ONE)]: "done\n" });
  const second = await readPlanning(source);

  expect(second).toEqual(await readPlanning({ root: tree.path }));
  expect(second).not.toEqual(first);
});
