import { layEntries, removedEntry, stagePaths } from "./index_entries.ts";
import { keepPaths, linesOf } from "./kept.ts";
import { withOwnIndex } from "./own_index.ts";
import type { GitTree } from "./repository.ts";

/** Stages files byte by byte, past every attribute: a file may not have the encoding that it is said to have. */
export async function stageBytes(
  repository: GitTree,
  paths: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<void> {
  const kept = await keepPaths(repository, { contents: new Map() }, paths);
  const gone = paths.filter((path) => kept.get(path)?.facts === null).map((path) => removedEntry(path));
  await layEntries(repository, [...linesOf(kept), ...gone].join(""), environment);
}

/** Tells whether git cannot take these files for their attributes alone. */
export async function areRefusedByAttributes(repository: GitTree, paths: readonly string[]): Promise<boolean> {
  return await withOwnIndex(repository, "copied", async (environment) => {
    const isStaged = (staged: Promise<void>): Promise<boolean> => staged.then(() => true, () => false);
    return !await isStaged(stagePaths(repository, paths, environment)) &&
      await isStaged(stageBytes(repository, paths, environment));
  });
}
