import { join } from "node:path";
import type { ContentHashes } from "../host/hash.ts";
import { isReadable } from "./parse_status.ts";
import { behindLinks } from "./index_entries.ts";
import { type Git, pathsBetween, READING } from "./run_git.ts";
import type { TreeSnapshot, TreeStatus } from "./repository.ts";

const AT_ONCE = 16;

/** A status with the content of each changed file. */
export async function takeSnapshot(topLevel: string, status: TreeStatus, hashes: ContentHashes): Promise<TreeSnapshot> {
  const contents = new Map<string, string | null>();
  for (const { path } of status.changed) contents.set(path, null);
  const gone = status.changed.filter(({ code }) => code.includes("D")).map(({ path }) => path);
  const behind = new Set(behindLinks(topLevel, gone)); // no file of the tree
  const waiting = status.changed.filter(({ path }) => !behind.has(path)).values();
  const work = async (): Promise<void> => {
    for (const { path, submodule } of waiting) {
      contents.set(path, submodule === undefined ? await hashes(join(topLevel, path)) : `submodule ${submodule}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return { ...status, contents };
}

/** A snapshot in which these paths, known to git, are as they are now. */
export async function withWritten(
  topLevel: string,
  before: TreeSnapshot,
  paths: readonly string[],
  hashes: ContentHashes,
): Promise<TreeSnapshot> {
  const contents = new Map(before.contents);
  const added = paths.filter((path) => !contents.has(path)).map((path) => ({ path, code: " M", untracked: false }));
  for (const path of paths) contents.set(path, await hashes(join(topLevel, path)));
  return { ...before, changed: [...before.changed, ...added], contents };
}

/** Paths whose content differs between two snapshots, or that a commit between them touched. Sorted. */
export async function comparePaths(git: Git, before: TreeSnapshot, now: TreeSnapshot): Promise<readonly string[]> {
  const [from, to] = now.head === null ? [null, before.head] : [before.head, now.head];
  const committed = from === to ? [] : await pathsBetween({ git }, from, to!, { environment: READING });
  const paths = new Set(committed.filter(isReadable));
  for (const [path, content] of now.contents) {
    if (!before.contents.has(path) || before.contents.get(path) !== content) paths.add(path);
  }
  for (const path of before.contents.keys()) {
    if (!now.contents.has(path)) paths.add(path);
  }
  return [...paths].sort();
}
