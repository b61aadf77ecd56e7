import { join } from "node:path";
import { listDirectory, pathExists, readText, removeOwn, writeAtomic } from "../host/files.ts";

const EVERYTHING = "*\n";

/** A run's folder is named by when it began, so that the names' order is the runs' order. */
export const RUN_REGEXP: RegExp = /^\d{8}-\d{6}-[0-9a-z]+$/;

/**
 * Takes the oldest runs' folders away until `keep` are left, this run's own among them. Folders that are not named like
 * a run are left alone.
 *
 * @returns the names of those taken away
 */
export async function pruneRuns(directory: string, keep: number, own: string): Promise<readonly string[]> {
  const runs = (await listDirectory(directory)).filter((name) => RUN_REGEXP.test(name) && name !== own).toSorted();
  const old = runs.slice(0, Math.max(0, runs.length - (keep - 1)));
  for (const name of old) await removeOwn(join(directory, name), directory);
  return old;
}

/** Sees to the `.gitignore` of `*` in a folder of runs. */
export async function ensureRunsIgnored(runsDirectory: string): Promise<void> {
  const ignore = join(runsDirectory, ".gitignore");
  if (!await pathExists(ignore)) await writeAtomic(ignore, EVERYTHING);
}

/** True when git ignores everything in this folder, by a file in it. */
export async function isIgnoring(folder: string): Promise<boolean> {
  return await readText(join(folder, ".gitignore")) === EVERYTHING;
}
