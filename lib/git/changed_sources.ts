import { NAMES_AT, pathsFrom } from "./run_git.ts";
import { requireRepository, type RootedRepository, topLevelPaths, type TreeSnapshot } from "./repository.ts";

/**
 * Divides paths, relative to the root, that changed while a turn was at work that may write nothing there.
 *
 * @returns `sources`: files that git tracks, before the turn or after it, and that were not being edited when it began;
 * `others`: a log, an editor's save, what a server wrote: they may be anyone's
 */
export async function changedSources(
  ralph: RootedRepository,
  paths: readonly string[],
  before: TreeSnapshot,
): Promise<{ readonly sources: readonly string[]; readonly others: readonly string[] }> {
  if (paths.length === 0) return { sources: [], others: [] };
  const repository = requireRepository(ralph);
  const named = topLevelPaths(ralph, paths);
  const { head } = before;
  const were = head === null ? [] : await pathsFrom(repository, [...NAMES_AT, head, "--", ...named]);
  const tracked = new Set([...await pathsFrom(repository, ["ls-files", "-z", "--", ...named]), ...were]);
  const isSource = (_path: string, index: number) => tracked.has(named[index]!) && !before.contents.has(named[index]!);
  return { sources: paths.filter(isSource), others: paths.filter((path, index) => !isSource(path, index)) };
}
