import { gitFailed, reasonOf } from "./run_git.ts";
import type { WithGit } from "./repository.ts";

/** Git says this if a ref is at another commit by now. */
const MOVED_REGEXP = /is at [0-9a-f]+ but expected/;

/**
 * Moves HEAD, and the branch that it is on, to another commit.
 *
 * @returns false where it is no longer at `from`: another tool has committed meanwhile
 * @throws {RalphError} git-failed
 */
export async function moveHead(
  { git }: WithGit,
  { from, to, why }: { readonly from: string; readonly to: string; readonly why: string },
): Promise<boolean> {
  const arguments_ = ["update-ref", "-m", why, "HEAD", to, from];
  const end = await git(arguments_);
  if (end.exitCode === 0) return true;
  if (MOVED_REGEXP.test(end.stderr)) return false;
  throw gitFailed(arguments_, reasonOf({ ...end, tail: end.stderr }));
}
