import type { RalphContext } from "../context/context.ts";
import { pathsOutside } from "./guards.ts";
import type { Turn, Work } from "../backlog/types.ts";
import { requireRepository } from "../git/require_repository.ts";
import { topLevelPaths } from "../git/tree_paths.ts";

/** What a turn wrote that its work does not allow, or `null`. */
export async function trespassed(
  ralph: RalphContext,
  work: Work,
  turn: Turn,
  stateFiles: readonly string[],
): Promise<{ readonly status: "trespassed"; readonly paths: readonly string[]; readonly diff: string } | null> {
  if (work.allow === undefined) return null;
  const paths = pathsOutside(turn.changedFiles.filter((path) => !stateFiles.includes(path)), work.allow);
  if (paths.length === 0) return null;
  const diff = await requireRepository(ralph).diff(topLevelPaths(ralph, paths), { base: turn.base });
  return { status: "trespassed", paths, diff };
}
