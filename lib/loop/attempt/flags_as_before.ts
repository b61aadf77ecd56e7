import type { RalphContext } from "../../context/context.ts";
import { clearNewFlags, flaggedPaths, type IndexFlags, layFlagsAgain, readIndexFlags } from "../../git/index_flags.ts";
import { requireRepository } from "../../git/require_repository.ts";
import { pathsBetween } from "../../git/run_git.ts";
import { takeOut } from "../../git/take_out.ts";
import { rootPaths } from "../../git/tree_paths.ts";
import type { Repository, TreeSnapshot } from "../../git/types.ts";
import { COMMITTED, pathsOfSides, warnOfFlags } from "./uncommitted.ts";

interface Heads {
  readonly from: TreeSnapshot["head"];
  readonly to: TreeSnapshot["head"];
}

/**
 * Clears the index flags that a turn has set, lays a person's in again, and takes the files that these hide out of the
 * turn's commits.
 *
 * @param wrote whether the index was written since
 * @returns the paths whose flags were cleared, and whether HEAD or the index was changed otherwise
 */
export async function flagsAsBefore(
  ralph: RalphContext,
  before: IndexFlags,
  wrote: boolean,
  heads: Heads,
): Promise<{ readonly cleared: readonly string[]; readonly isMoved: boolean }> {
  const repository = requireRepository(ralph);
  const committed = await committedOf(repository, flaggedPaths(before), heads);
  if (committed.length > 0) await takeOut(repository, heads.from, committed);
  if (!wrote && committed.length === 0) return { cleared: [], isMoved: false };
  const now = await readIndexFlags(repository);
  const cleared = await clearNewFlags(repository, before, now);
  const back = await layFlagsAgain(repository, before, now);
  if (committed.length > 0) {
    const message = `${COMMITTED}: ${rootPaths(ralph, committed).join(", ")}`;
    ralph.events.emit({ type: "note", level: "warn", message });
  }
  warnOfFlags(ralph, back.filter((path) => !committed.includes(path)));
  return { cleared, isMoved: committed.length + back.length > 0 };
}

async function committedOf(
  repository: Repository,
  flagged: ReadonlySet<string>,
  { from, to }: Heads,
): Promise<readonly string[]> {
  if (flagged.size === 0 || from === null || to === null || from === to) return [];
  const paths = (await pathsBetween(repository, from, to)).filter((path) => flagged.has(path));
  const { fromTurn } = await pathsOfSides(repository, paths.length > 0 ? `${from}..${to}` : null);
  return paths.filter((path) => fromTurn?.has(path) !== false);
}
