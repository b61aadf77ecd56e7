import { commitTree } from "./own_commit.ts";
import { entriesAt, layEntries } from "./index_entries.ts";
import { moveHead } from "./move_head.ts";
import { treeWith } from "./own_index.ts";
import { lineFrom, NAMES_AT, overPaths, pathsFrom } from "./run_git.ts";
import { markingEnvironment } from "./turn_mark.ts";
import type { Repository, WithGit } from "./repository.ts";

/** A commit of Ralph's. */
export interface RestoringCommit {
  readonly commit: string;
  readonly subject: string;
}

/**
 * Commits paths as `start` has them, where commits since then have changed them. The working tree stays as it is.
 *
 * @param paths relative to the top level
 * @returns `null` where no commit has changed them
 */
export async function restoreInHead(
  repository: Repository,
  start: string,
  paths: readonly string[],
): Promise<RestoringCommit | null> {
  if (paths.length === 0) return null;
  const changed = await pathsFrom(repository, ["diff-tree", "-r", "-z", "--name-only", start, "HEAD", "--", ...paths]);
  if (changed.length === 0) return null;
  const subject = `ralph: restore ${changed.length === 1 ? changed[0] : `${changed.length} files`}`;
  return { commit: await commitAsIn(repository, start, changed, subject), subject };
}

/** Makes files below folders, in the working tree and in the index, what a commit has there. */
export async function restoreBelow(repository: WithGit, commit: string, folders: readonly string[]): Promise<void> {
  const files = await pathsFrom(repository, [...NAMES_AT, commit, "--", ...folders]);
  await overPaths(repository, ["restore", `--source=${commit}`, "--staged", "--worktree"], files);
}

/** Commits these paths as another commit has them; the working tree and all other entries of the index are left alone. */
async function commitAsIn(
  repository: Repository,
  start: string,
  paths: readonly string[],
  subject: string,
): Promise<string> {
  const entries = await entriesAt(repository, start, paths);
  const parent = await lineFrom(repository, ["rev-parse", "HEAD"]);
  const tree = await treeWith(repository, parent, entries);
  // as a turn's own: the two become part of the item's one commit, or go with what is given up on
  const own = { parents: [parent], message: `${subject}\n`, environment: await markingEnvironment(repository) };
  const commit = await commitTree(repository, tree, own);
  if (!await moveHead(repository, { from: parent, to: commit, why: subject })) {
    return await commitAsIn(repository, start, paths, subject);
  }
  await layEntries(repository, entries);
  return commit;
}
