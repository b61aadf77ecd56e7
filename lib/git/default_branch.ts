import type { Repository } from "./types.ts";

/**
 * The branch that work ends up on: the remote's own, `main`, `master`, or the one that git makes first; `null` where no
 * such branch is here.
 */
export async function defaultBranch({ git }: Pick<Repository, "git">): Promise<string | null> {
  const line = async (...words: readonly string[]): Promise<string> => (await git(words)).stdout.trim();
  const remote = await line("symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD");
  const names = [remote.replace(/^origin\//, ""), "main", "master", await line("config", "init.defaultBranch")];
  for (const name of names) {
    if (name === "") continue;
    if ((await git(["rev-parse", "--verify", "--quiet", `refs/heads/${name}`])).exitCode === 0) return name;
  }
  return null;
}
