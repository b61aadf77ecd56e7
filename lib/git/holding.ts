import { join } from "node:path";
import { readBytes } from "../host/files.ts";
import { type Git, gitFailed, partsOf, READING, reasonOf } from "./run_git.ts";
import { comparePaths } from "./snapshot.ts";
import type { TreeSnapshot } from "./repository.ts";

/** Finds the files that hold a text, as the tree is in a snapshot. */
export type HoldingFiles = (text: string, now: TreeSnapshot) => Promise<readonly string[]>;

/** All files are looked through once, which takes long in a large tree; later only those that have changed since. */
export function createHoldingFiles(git: Git, topLevel: string): HoldingFiles {
  const known = new Map<string, { readonly at: TreeSnapshot; readonly paths: ReadonlySet<string> }>();

  async function look(text: string, now: TreeSnapshot): Promise<ReadonlySet<string>> {
    const before = known.get(text);
    if (before === undefined) return await searchAll(git, text);
    const paths = new Set(before.paths);
    for (const path of await comparePaths(git, before.at, now)) {
      const bytes = await readBytes(join(topLevel, path)).catch(() => null); // a folder, or too large to be read
      if (bytes?.includes(text) === true) paths.add(path);
      else paths.delete(path);
    }
    return paths;
  }

  return async (text, now) => {
    const paths = await look(text, now);
    known.set(text, { at: now, paths });
    return [...paths].sort();
  };
}

async function searchAll(git: Git, text: string): Promise<ReadonlySet<string>> {
  const arguments_ = ["grep", "--threads=1", "-lzF", "--untracked", "-e", text];
  const end = await git(arguments_, { environment: READING });
  if (end.exitCode !== 0 && end.exitCode !== 1) throw gitFailed(arguments_, reasonOf(end));
  return new Set(partsOf(end.stdout));
}
