import { lineFrom } from "./run_git.ts";
import type { WithGit } from "./repository.ts";

/** Who commits what never enters a person's history: no configuration of theirs is needed for it. */
export const OWN_IDENTITY: Readonly<Record<string, string>> = {
  GIT_AUTHOR_NAME: "ralph",
  GIT_AUTHOR_EMAIL: "ralph@localhost",
  GIT_COMMITTER_NAME: "ralph",
  GIT_COMMITTER_EMAIL: "ralph@localhost",
};

/** A commit that is made of a tree. */
interface TreeCommit {
  readonly parents: readonly string[];
  readonly message: string;
  /** Laid over git's own surroundings: who commits, and when. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** Makes a commit of a tree. @returns its hash; no ref names it yet */
export async function commitTree(
  repository: WithGit,
  tree: string,
  { parents, message: input, environment = {} }: TreeCommit,
): Promise<string> {
  const named = parents.flatMap((parent) => ["-p", parent]);
  return await lineFrom(repository, ["commit-tree", tree, ...named], { input, environment });
}

/**
 * Makes a commit that no branch gets: to check it, to keep it under a ref of Ralph's, to send it to a worker. It needs no
 * git identity, and is signed by no one.
 *
 * @returns its hash; no ref names it yet
 */
export async function ownCommit(
  repository: WithGit,
  tree: string,
  commit: Pick<TreeCommit, "parents" | "message">,
): Promise<string> {
  return await commitTree(repository, tree, { ...commit, environment: OWN_IDENTITY });
}
