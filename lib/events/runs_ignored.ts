import { join } from "node:path";
import { pathExists, readText, writeAtomic } from "../host/files.ts";

const EVERYTHING = "*\n";

/** Sees to the `.gitignore` of `*` in a folder of runs. */
export async function ensureRunsIgnored(runsDirectory: string): Promise<void> {
  const ignore = join(runsDirectory, ".gitignore");
  if (!await pathExists(ignore)) await writeAtomic(ignore, EVERYTHING);
}

/** True when git ignores everything in this folder, by a file in it. */
export async function isIgnoring(folder: string): Promise<boolean> {
  return await readText(join(folder, ".gitignore")) === EVERYTHING;
}
