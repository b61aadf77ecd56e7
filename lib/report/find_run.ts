import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { nearest } from "../errors/nearest.ts";
import { knownRuns } from "../events/known_runs.ts";
import { RUN_REGEXP } from "../events/run_folders.ts";
import { findFolders } from "../git/find_folders.ts";
import { realPath } from "../host/file_state.ts";
import { isDirectory, listDirectory, pathExists } from "../host/files.ts";
import { usage } from "../cli/command.ts";

const EVENTS_FILE = "events.ndjson";
const SHOWN_RUNS = 5;

/** A run that left its events. */
export interface FoundRun {
  /** The run's id. */
  readonly id: string;
  /** Absolute paths. */
  readonly folder: string;
  readonly events: string;
  /** No run below the root is newer. */
  readonly newest: boolean;
}

/**
 * The run that was named by its id, by the path of its folder or of a folder that holds runs ; without a name the
 * newest one in the folders that are given.
 *
 * @throws {RalphError} usage when there is none
 */
export async function findRun(
  { root, cwd, folders }: { readonly root: string; readonly cwd: string; readonly folders: readonly string[] },
  named: string | undefined,
): Promise<FoundRun> {
  const runs = await listRuns(folders.map((folder) => join(root, folder)));
  if (named === undefined) {
    const newest = runs.at(-1);
    if (newest !== undefined) return newest;
    throw usage(
      `no run below ${root} has left its events`,
      "a run writes them: `ralph run` …",
    );
  }
  const found = runs.find(({ id }) => id === named);
  if (found !== undefined) return found;
  const path = resolve(cwd, basename(named) === EVENTS_FILE ? dirname(named) : named);
  if (await pathExists(join(path, EVENTS_FILE))) {
    const same = runs.find(({ folder }) => folder === path);
    return same ?? { id: basename(path), folder: path, events: join(path, EVENTS_FILE), newest: false };
  }
  const held = (await listRuns([path, join(path, "logs")])).at(-1);
  if (held !== undefined) return runs.find(({ folder }) => folder === held.folder) ?? { ...held, newest: false };
  const near = nearest(named, runs.map(({ id }) => id));
  const last = runs.slice(-SHOWN_RUNS).reverse().map(({ id }) => id);
  const others = last.length === 0 ? `no run below ${root} has left its events` : `the last runs: ${last.join(", ")}`;
  throw usage(
    `${named} is neither a run's id nor the folder of one`,
    near === null ? others : `did you mean \`ralph report ${near}\`?`,
  );
}

/** Oldest first: a run's name begins with its time. A folder that no run of this working tree made is left out. */
export async function listRuns(directories: readonly string[]): Promise<readonly FoundRun[]> {
  const found: Omit<FoundRun, "newest">[] = [];
  for (const directory of directories) {
    if (!await isDirectory(directory)) continue;
    const real = realPath(directory);
    const repository = await findFolders(real, { variables: {} });
    const known = repository === null ? null : await knownRuns(repository, real);
    for (const id of await listDirectory(directory)) {
      const folder = join(directory, id);
      const events = join(folder, EVENTS_FILE);
      if (!RUN_REGEXP.test(id) || known?.has(id) === false) continue;
      if (await pathExists(events)) found.push({ id, folder, events });
    }
  }
  const sorted = found.toSorted((one, other) => one.id < other.id ? -1 : one.id > other.id ? 1 : 0);
  return sorted.map((run, index) => ({ ...run, newest: index === sorted.length - 1 }));
}

/** A path as it is shown: relative to the root where it is below it. */
export function shownPath(root: string, path: string): string {
  const inside = relative(root, path).replaceAll(sep, "/");
  return inside.startsWith("..") ? path : inside;
}
