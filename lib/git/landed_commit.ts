import { commitAt } from "./refs.ts";
import { outputFrom, readHead } from "./run_git.ts";
import type { GitFolders, WithGit } from "./repository.ts";

/** The branch that a commit is made on, and its tip before it. */
export interface CommitPlace {
  /** `null`: HEAD was detached. */
  readonly ref: string | null;
  /** `null`: it is the first one. */
  readonly tip: string | null;
}

/** A commit that git made while others may have moved HEAD. */
interface LandedCommit {
  readonly commit: string;
  /** Nothing is on top of it, and HEAD is there. */
  readonly isTip: boolean;
  /** The ref that it was made on instead, and was taken off: HEAD for a detached one. */
  readonly strayedTo?: string;
}

/**
 * Finds the commit that git has just made on top of a branch: its hooks, or a person meanwhile, may have committed on
 * top of it, or have left the branch. One that a branch got which HEAD went to before git committed is moved to where it
 * belongs, as long as nothing is on top of it.
 *
 * @returns `null` where the branch has it no more
 * @throws {RalphError} git-failed
 */
export async function landedCommit(
  repository: WithGit & GitFolders,
  { ref, tip }: CommitPlace,
): Promise<LandedCommit | null> {
  const { ref: at } = await readHead(repository);
  const now = await commitAt(repository, ref ?? "HEAD");
  const made = now === null ? null : await firstSince(repository, tip, now);
  if (made !== null && now !== null) {
    const commit = made.parent === tip ? made.commit : now; // of another history
    return { commit, isTip: commit === now && at === ref };
  }
  if (ref === null || at === ref || now !== tip) return null;
  const commit = await commitAt(repository, "HEAD");
  const elsewhere = commit === null ? null : await firstSince(repository, tip, commit);
  if (commit === null || elsewhere?.commit !== commit || elsewhere.parent !== tip) return null;
  const none = "0".repeat(commit.length);
  const why = ["-m", "ralph: made on another branch"];
  const moved = await repository.git(["update-ref", ...why, ref, commit, tip ?? none]);
  if (moved.exitCode !== 0) return null; // somebody has moved it since
  await outputFrom(repository, ["symbolic-ref", ...why, "HEAD", ref]);
  if (at !== null) await repository.git(["update-ref", ...tip === null ? ["-d", at] : [...why, at, tip], commit]);
  return { commit, isTip: true, strayedTo: at ?? "HEAD" };
}

/** The oldest commit that the tip has not. @returns `null` where there is none */
async function firstSince(repository: WithGit, tip: string | null, now: string) {
  if (now === tip) return null;
  const range = tip === null ? now : `${tip}..${now}`;
  const listed = await outputFrom(repository, ["rev-list", "--first-parent", "--parents", range, "--"]);
  const [commit, parent = null] = (listed.trimEnd().split("\n").at(-1) ?? "").split(" ").filter((id) => id !== "");
  return commit === undefined ? null : { commit, parent };
}
