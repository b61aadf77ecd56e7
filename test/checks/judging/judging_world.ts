import picomatch from "picomatch";
import { type Entries, type JudgingChange, judgingChanges } from "../../../lib/checks/judging/judging_changes.ts";
import { type FileTree, reachedBy } from "../../../lib/checks/judging/reached.ts";
import { defaultConfig } from "../../../lib/config/defaults.ts";

/** Files by path; a text that begins with `#!` is executable. */
export type Files = Readonly<Record<string, string>>;

/** The text of a submodule; a link's is `-> target`. */
export const REPOSITORY = "a repository";
const LINK_REGEXP = /^-> (.*)$/;

/** A tree in memory. */
export function treeOf(files: Files): FileTree {
  const paths = Object.keys(files);
  return {
    has: (path) => path in files,
    isFolder: (path) => paths.some((one) => one.startsWith(`${path}/`)),
    read: (path) => Promise.resolve(files[path] ?? null),
    paths: () => paths,
    linkAt: (path) => Promise.resolve(LINK_REGEXP.exec(files[path] ?? "")?.[1] ?? null),
    isRepository: (path) => files[path] === REPOSITORY,
  };
}

/** The judging files that differ, as `path` (old), `-path` (absent) or `path: text` (a file with old parts); `?` before what may be the work. */
export async function changesOf(
  checks: readonly string[],
  before: Files,
  after: Files,
  isSubject: (path: string) => boolean = () => false,
  isWritten = false,
): Promise<readonly string[]> {
  const isTest = picomatch([...defaultConfig().tests.globs], { dot: true });
  const reachedNow = await reachedBy(checks, treeOf(after));
  const changes = await judgingChanges(entriesOf(before), entriesOf(after), {
    isTest,
    reached: await reachedBy(checks, treeOf(before), isTest),
    isSubject,
    isChanged: () => true,
    isWritten: () => Promise.resolve(isWritten),
    named: (path) => reachedNow.files.has(path) && !reachedNow.listed.has(path),
    containing: (words) =>
      Promise.resolve(Object.keys(before).filter((path) => words.some((word) => before[path]?.includes(word)))),
    read: (text) => Promise.resolve(text),
  });
  return changes.map(shown).toSorted();
}

function entriesOf(files: Files): Entries {
  return new Map(
    Object.entries(files).map(([path, hash]) => [path, { mode: hash.startsWith("#!") ? "100755" : "100644", hash }]),
  );
}

function shown({ isUncertain, ...change }: JudgingChange): string {
  return `${isUncertain ? "?" : ""}${shownFile(change)}`;
}

function shownFile({ path, old }: Pick<JudgingChange, "path" | "old">): string {
  switch (old.status) {
    case "absent":
      return `-${path}`;
    case "entry":
      return path;
    case "parts":
      return `${path}: ${old.text}`;
  }
}
