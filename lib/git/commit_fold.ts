import { bodyWith } from "./fold.ts";
import { moveHead } from "./move_head.ts";
import { withOwnIndex } from "./own_index.ts";
import { type GitEnd, gitFailed, lineFrom, outputFrom, overPaths, pathsBetween } from "./run_git.ts";
import { stagePaths } from "./stage_paths.ts";
import type { Fold, Repository, WithGit } from "./repository.ts";

type Folding = Pick<Repository, "git" | "gitDirectory" | "topLevel">;

/** The commit that takes the place of the folded ones. */
export interface FoldedCommit {
  readonly fold: Fold;
  /** The subject of the commit that is made. */
  readonly subject: string;
  /** Uncommitted paths that go along, relative to the top level. */
  readonly paths: readonly string[];
  /** The arguments that give the message; `own`: what is below its body. */
  message(own: (body: string | undefined) => string): readonly string[];
  /** Runs `git commit` with these arguments, and this beside its environment. */
  commit(message: readonly string[], environment: Readonly<Record<string, string>>): Promise<GitEnd>;
}

/**
 * Moves the branch to where the first folded commit began and commits from an index of its own, which holds what those
 * commits held and the paths: hooks see all of it, and what a person has staged stays staged. If git does not commit,
 * the branch is where it was. A kill in between leaves a branch that `undoFold()` brings back.
 *
 * @returns how `git commit` ended; `null`: another tool's commit is on top of them, and nothing was changed
 * @throws {RalphError} git-failed
 */
export async function commitFolded(repository: Folding, request: FoldedCommit): Promise<GitEnd | null> {
  const { fold, paths } = request;
  return await withOwnIndex(repository, "copied", async (environment) => {
    await outputFrom(repository, ["read-tree", "--reset", fold.head], { environment });
    await stagePaths(repository, paths, environment);
    await outputFrom(repository, ["update-ref", refOf(fold), fold.head]);
    if (!await moveHead(repository, { from: fold.head, to: fold.onto, why: "ralph: one commit an item" })) {
      await forget(repository, fold);
      return null;
    }
    let isCommitted = false;
    try {
      const message = request.message((body) => bodyWith(body, fold.own, request.subject));
      const end = await request.commit(message, environment);
      isCommitted = end.exitCode === 0;
      if (isCommitted) await matchIndex(repository, fold.head);
      return end;
    } finally {
      if (!isCommitted) await moveBack(repository, fold, "ralph: not committed");
      await forget(repository, fold);
    }
  });
}

/**
 * Undoes what a kill during `commitFolded()` left: a branch that was moved gets its commits back, and the index the
 * commit that was made.
 *
 * @throws {RalphError} git-failed
 */
export async function undoFold(repository: WithGit, fold: Fold): Promise<void> {
  const { head, onto } = fold;
  const now = await lineFrom(repository, ["rev-parse", "HEAD"]);
  if (now === head) return;
  if (now === onto) await moveBack(repository, fold, "ralph: was stopped before the commit");
  else {
    const parent = await repository.git(["rev-parse", "--verify", "--quiet", "HEAD^"]);
    if (parent.stdout.trim() === onto) await matchIndex(repository, head);
  }
  await forget(repository, fold);
}

/** Holds the folded commits while no branch does. */
function refOf({ head }: Fold): string {
  return `refs/ralph/fold/${head}`;
}

async function forget(repository: WithGit, fold: Fold): Promise<void> {
  await outputFrom(repository, ["update-ref", "-d", refOf(fold)]);
}

/** The index has what the folded commits had; it gets what the new one has beside that. */
async function matchIndex(repository: WithGit, from: string): Promise<void> {
  await overPaths(repository, ["reset", "--quiet"], await pathsBetween(repository, from, "HEAD"));
}

async function moveBack(repository: WithGit, fold: Fold, why: string): Promise<void> {
  if (await moveHead(repository, { from: fold.onto, to: fold.head, why })) return;
  const reason = `another tool committed meanwhile; the turn's commits are kept as ${refOf(fold)}`;
  throw gitFailed(["update-ref"], reason, `\`git merge ${refOf(fold)}\`, then the same command continues`);
}
