import { requireRepository, type RootedRepository, topLevelPaths, type TreeSnapshot } from "./repository.ts";

/** The files that changed while a turn was at work that may write nothing there. */
export interface ChangedSources {
  /** Files that git tracks, before the turn or after it, and that were not being edited when it began. */
  readonly sources: readonly string[];
  /** A log, an editor's save, what a server wrote: they may be anyone's. */
  readonly others: readonly string[];
}

/** Divides paths, relative to the root, into sources and whatever else changed since the snapshot. */
export async function changedSources(
  ralph: RootedRepository,
  paths: readonly string[],
  before: TreeSnapshot,
): Promise<ChangedSources> {
  if (paths.length === 0) return { sources: [], others: [] };
  const repository = requireRepository(ralph);
  const named = topLevelPaths(ralph, paths);
  const environment = { GIT_LITERAL_PATHSPECS: "1" };
  const lists = [
    ["ls-files", "-z", "--", ...named],
    ...(before.head === null ? [] : [["ls-tree", "-r", "-z", "--name-only", before.head, "--", ...named]]),
  ];
  const found = await Promise.all(lists.map((list) => repository.git(list, { environment })));
  const tracked = new Set(found.flatMap(({ stdout }) => stdout.split("\0")));
  const isSource = (_path: string, index: number): boolean =>
    tracked.has(named[index]!) && !before.contents.has(named[index]!);
  return {
    sources: paths.filter(isSource),
    others: paths.filter((path, index) => !isSource(path, index)),
  };
}

/** Says what changed beside a turn and is left alone. */
export function othersMessage(others: readonly string[]): string {
  return `changed while the planner was at work, by it or by something else, and left alone: ${others.join(", ")}`;
}
