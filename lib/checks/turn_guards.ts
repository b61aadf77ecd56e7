import type { RalphContext } from "../context/context.ts";
import { pathsOutside } from "./guards.ts";
import type { Turn, Work } from "../backlog/types.ts";
import { requireRepository } from "../git/require_repository.ts";
import { topLevelPaths } from "../git/tree_paths.ts";

/** A turn that left the branch is brought back to it: what is verified and committed must be what the run works on. */
export async function strayedFrom(
  ralph: RalphContext,
  branch: string | null,
  now: string | null,
): Promise<string | null> {
  if (branch === null || branch === now) return null;
  const there = now === null ? "a detached HEAD" : `the branch ${now}`;
  await requireRepository(ralph).switchTo(branch);
  return `the turn switched from the branch ${branch} to ${there}, where its commits are: work on ${branch}`;
}

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
