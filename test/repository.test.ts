import { expect, test } from "vitest";
import { temporaryDirectory } from "../lib/host/files.ts";
import { makeRepository, type RepositoryOptions, type TestGit } from "./repository.ts";

const FILES = {
  "a.txt": "a\n",
  "a-b": "",
  "a/b/c.md": "# c\n",
  "a/b/d.md": "a\n",
  "é ü": "é\n",
  "scripts/x.json": "{}\n",
};

const SAID: readonly (readonly string[])[] = [
  ["ls-tree", "-r", "-t", "HEAD"],
  ["ls-files", "--stage"],
  ["status", "--porcelain=2", "--branch", "--untracked-files=all"],
  ["diff-files"],
  ["log", "--format=%T %P %an %ae %cn %ce %B"],
  ["log", "--walk-reflogs", "--format=%H %gd %gs", "HEAD"],
  ["log", "--walk-reflogs", "--format=%H %gd %gs", "main"],
  ["fsck", "--strict"],
];

/** All that git says of it but for the commit, whose time differs. */
function told(git: TestGit): readonly string[] {
  const head = git("rev-parse", "HEAD").trim();
  return SAID.map((words) => git(...words).replaceAll(head, "HEAD"));
}

test.each<[string, RepositoryOptions]>([
  ["files", { files: FILES }],
  ["no file", { commit: "first", person: { name: "Bo", email: "bo@example.com" } }],
])("a first commit of %s is git's own", async (_, options) => {
  await using first = await temporaryDirectory("ralph-init-");
  await using written = await temporaryDirectory("ralph-written-");
  await using made = await temporaryDirectory("ralph-made-");
  makeRepository(first.path); // the first one of a worker is git's
  const byGit = makeRepository(made.path, { ...options, config: "[gc]\n\tauto = 0\n" });
  const byHand = makeRepository(written.path, options);

  expect(told(byHand)).toEqual(told(byGit));
});
