import { join, relative, sep } from "node:path";
import { appendText, ensurePrivateDirectory, listDirectory, PRIVATE_FILE, readText } from "../host/files.ts";
import { RUN_REGEXP } from "./run_folders.ts";

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
  const before = isFirst ? (await listDirectory(directory)).filter((name) => RUN_REGEXP.test(name)) : [];
  const lines = [...new Set([...before, id])].map((name) => `${prefixOf(topLevel, directory)}${name}\n`);
  await ensurePrivateDirectory(ralphDirectory);
  await appendText(file, lines.join(""), PRIVATE_FILE);
}

/** The ids of the runs that Ralph made in a folder; `null` where nothing is known of it, as in a fresh clone. */
export async function knownRuns(
  { topLevel, ralphDirectory }: RunsPlace,
  directory: string,
): Promise<ReadonlySet<string> | null> {
  const prefix = prefixOf(topLevel, directory);
  const lines = (await readText(join(ralphDirectory, "runs")).catch(() => null) ?? "").split("\n");
  const ids = lines.filter((line) => line.startsWith(prefix)).map((line) => line.slice(prefix.length));
  return ids.length === 0 ? null : new Set(ids);
}

function prefixOf(topLevel: string, directory: string): string {
  return `${relative(topLevel, directory).replaceAll(sep, "/")}/`;
}
