/**
 * Work on an item that was given up on: out of the tree and off the branch, kept as one commit under a ref, and brought
 * back when the item is taken up again.
 *
 * @module
 */
import { type Capture, captureWork } from "./fold.ts";
import { discardPaths, mergeChange, type TreeChange } from "./merge_change.ts";
import { lineFrom, outputFrom, overPaths, pathsBetween, WORK_REFS } from "./run_git.ts";
import type { Fold, Repository, WithGit } from "./repository.ts";

type Stowing = Pick<Repository, "git" | "gitDirectory" | "head" | "ralphDirectory" | "topLevel" | "status">;

/** Work that is to be put away; a person knows by the subject what it is. */
export interface ToStow extends Required<Pick<Capture, "mask" | "ref" | "subject" | "without">> {
  /** The commits of the item's turns, if they can be taken off the branch. */
  readonly fold: Fold | null;
  /** The paths that they left uncommitted, relative to the top level. */
  readonly paths: readonly string[];
  /** Commits that change nothing together are taken off as well. @default false */
  readonly empty?: boolean;
}

/** Work that is kept under a ref. */
export interface StowedWork extends TreeChange {
  readonly ref: string;
  readonly subject: string;
}

/**
 * Puts work away: the files are as they were before it, and the branch goes back to where it began. A person's later
 * edits stay. Called again after a kill it continues where it was.
 *
 * @returns `null` where there was nothing
 * @throws {RalphError} git-failed
 */
export async function stowWork(
  repository: Stowing,
  { ref, subject, fold, paths, without, mask, empty = false }: ToStow,
): Promise<StowedWork | null> {
  let work = await stowedWork(repository, ref);
  if (work === null) {
    if (fold === null && paths.length === 0) return null;
    const base = fold?.onto ?? await lineFrom(repository, ["rev-parse", "HEAD"]);
    const captured = await captureWork(repository, { base, ref, subject, without, only: paths, mask });
    if (captured === null && (fold === null || !empty)) return null;
    if (captured === null && fold !== null) await outputFrom(repository, ["update-ref", ref, fold.head]);
    work = { ref, subject, ...captured ?? { base, commit: fold?.head ?? base, paths: [] } }; // commits that undo each other
  }
  const own = new Set(paths);
  const edited = new Set((await repository.status()).changed.map(({ path }) => path).filter((path) => !own.has(path)));
  await discardPaths(repository, work.paths.filter((path) => !edited.has(path)), work.base);
  if (fold !== null) {
    await outputFrom(repository, ["update-ref", "-m", "ralph: given up on", "HEAD", fold.onto, fold.head]);
  }
  await overPaths(repository, ["reset", "--quiet"], work.paths);
  return work;
}

/**
 * Brings kept work back into the tree, uncommitted, merged with what is there now.
 *
 * @param options of `mergeChange()`
 * @returns the paths; `conflict` names the first one that does not fit, and nothing is written then; `null`: it is gone
 * @throws {RalphError} git-failed
 */
export async function bringBackWork(
  repository: Stowing,
  ref: string,
  options: Parameters<typeof mergeChange>[2],
): Promise<{ readonly paths: readonly string[]; readonly conflict: string | null } | null> {
  const work = await stowedWork(repository, ref);
  if (work === null) return null;
  const conflict = await mergeChange(repository, work, options);
  if (conflict === null) await overPaths(repository, ["reset", "--quiet"], work.paths);
  return { paths: work.paths, conflict };
}

/** All work that is kept, oldest first: a ref, and what it is. @throws {RalphError} git-failed */
export async function keptWork(
  repository: WithGit,
): Promise<readonly { readonly ref: string; readonly subject: string }[]> {
  const format = "--format=%(refname)%00%(contents:subject)";
  const listed = await outputFrom(repository, ["for-each-ref", "--sort=committerdate", format, WORK_REFS]);
  const rows = listed.split("\n").filter((line) => line !== "").map((line) => line.split("\0"));
  return rows.map(([ref = "", subject = ""]) => ({ ref, subject }));
}

async function stowedWork(repository: WithGit, ref: string): Promise<StowedWork | null> {
  const found = await repository.git(["log", "-1", "--format=%H%x00%P%x00%s", ref, "--"]);
  if (found.exitCode !== 0) return null;
  const [commit = "", base = "", subject = ""] = found.stdout.trim().split("\0");
  return { ref, subject, base, commit, paths: await pathsBetween(repository, base, commit) };
}
