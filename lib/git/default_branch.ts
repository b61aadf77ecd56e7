import { mayHaveRefs } from "./run_git.ts";
import type { WithGit, WithIndex } from "./repository.ts";

const ORIGIN_HEAD = "refs/remotes/origin/HEAD";

/**
 * The branch that work ends up on: the remote's own, `main`, `master`, or the one that git makes first; `null` where no
 * such branch is here.
 */
export async function defaultBranch({ git, gitDirectory }: WithIndex): Promise<string | null> {
  const listed = await git(["for-each-ref", "--format=%(refname) %(symref)", "refs/heads/", ORIGIN_HEAD]);
  const symbolic = new Map(listed.stdout.split("\n").map((line) => line.split(" ") as [string, string]));
  const isHere = (name: string): boolean => symbolic.has(`refs/heads/${name}`);
  const mayBeLost = !symbolic.has(ORIGIN_HEAD) && await mayHaveRefs(gitDirectory, "refs/remotes/origin/");
  const lost = mayBeLost ? (await git(["symbolic-ref", "--quiet", ORIGIN_HEAD])).stdout.trim() : ""; // to a branch that is gone
  const remote = (symbolic.get(ORIGIN_HEAD) ?? lost).replace(/^refs\/remotes\/origin\//, "");
  const name = [remote, "main", "master"].find(isHere) ?? (await git(["config", "init.defaultBranch"])).stdout.trim();
  return isHere(name) ? name : null;
}

/** The remote's own branch by its name, be it here or not; `null` where that is not known. */
export async function remoteBranch({ git }: WithGit): Promise<string | null> {
  const name = (await git(["symbolic-ref", "--quiet", ORIGIN_HEAD])).stdout.trim();
  return name.replace(/^refs\/remotes\/origin\//, "") || null;
}
