import { join, relative, sep } from "node:path";
import * as files from "../host/files.ts";

/** The place in which Ralph notes the folders that its runs made. */
interface RunsPlace {
  readonly topLevel: string;
  readonly ralphDirectory: string;
}

/**
 * Notes a run's folder in the git directory, before its first turn. A folder that a turn puts beside it later is no run.
 * Runs that were there before Ralph took such notes stay known.
 *
 * @param directory the folder of runs, absolute
 */
export async function noteRun({ topLevel, ralphDirectory }: RunsPlace, directory: string, id: string): Promise<void> {
  const file = join(ralphDirectory, "runs");
  const isFirst = await knownRuns({ topLevel, ralphDirectory }, directory) === null;
  const before = isFirst ? (await files.listDirectory(directory)).filter((name) => RUN_REGEXP.test(name)) : [];
  const lines = [...new Set([...before, id])].map((name) => `${prefixOf(topLevel, directory)}${name}\n`);
  await files.ensurePrivateDirectory(ralphDirectory);
  await files.appendText(file, lines.join(""), files.PRIVATE_FILE);
}

/** The ids of the runs that Ralph made in a folder; `null` where nothing is known of it, as in a fresh clone. */
export async function knownRuns(
  { topLevel, ralphDirectory }: RunsPlace,
  directory: string,
): Promise<ReadonlySet<string> | null> {
  const prefix = prefixOf(topLevel, directory);
  const lines = (await files.readText(join(ralphDirectory, "runs")).catch(() => null) ?? "").split("\n");
  const ids = lines.filter((line) => line.startsWith(prefix)).map((line) => line.slice(prefix.length));
  return ids.length === 0 ? null : new Set(ids);
}

function prefixOf(topLevel: string, directory: string): string {
  return `${relative(topLevel, directory).replaceAll(sep, "/")}/`;
}

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
  const runs = (await files.listDirectory(directory)).filter((name) => RUN_REGEXP.test(name) && name !== own)
    .toSorted();
  const old = runs.slice(0, Math.max(0, runs.length - (keep - 1)));
  for (const name of old) await files.removeOwn(join(directory, name), directory);
  return old;
}

/** Sees to the `.gitignore` of `*` in a folder, of runs or of screenshots. @throws {RalphError} path-outside-root, file-unwritable */
export async function ensureRunsIgnored(runsDirectory: string): Promise<void> {
  await files.ensureDirectory(runsDirectory);
  await files.makeInside(runsDirectory, ".gitignore", EVERYTHING);
}

/** The same after a turn, which may have taken the folder away, or left a link in the file's place. */
export async function keepRunsIgnored(runsDirectory: string): Promise<void> {
  await files.removeLinkOut(runsDirectory, ".gitignore");
  await ensureRunsIgnored(runsDirectory);
}

/** True when git ignores everything in this folder, by a file in it. */
export async function isIgnoring(folder: string): Promise<boolean> {
  return await files.readText(join(folder, ".gitignore")) === EVERYTHING;
}
