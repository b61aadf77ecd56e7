import type { WithGit } from "./repository.ts";
import { outputFrom, partsOf } from "./run_git.ts";

/** A path that differs between two commits: `A` is new, `D` is gone, all others are changed. */
export interface Change {
  readonly kind: string;
  readonly path: string;
}

/** The newest answers: the difference of two commits stays the same. */
const KNOWN = new Map<string, readonly Change[]>();
const MOST_KEPT = 8;

/** The paths that differ between two commits, relative to the top level. @param from its hash, as `to` @throws {RalphError} git-failed */
export async function changesBetween(repository: WithGit, from: string, to: string): Promise<readonly Change[]> {
  const look = ["diff-tree", "-r", "-z", "--name-status", "--no-renames", from, to];
  const known = KNOWN.get(look.join());
  if (known !== undefined) return known;
  const parts = partsOf(await outputFrom(repository, look));
  const changes = parts.flatMap((path, at) => at % 2 === 1 ? [{ kind: parts[at - 1]!, path }] : []);
  KNOWN.set(look.join(), changes);
  for (const oldest of [...KNOWN.keys()].slice(0, -MOST_KEPT)) KNOWN.delete(oldest);
  return changes;
}
