import { lineFrom } from "./run_git.ts";
import type { WithGit } from "./repository.ts";

/** Who commits what never enters a person's history: no configuration of theirs is needed for it. */
export const OWN_IDENTITY: Readonly<Record<string, string>> = {
  GIT_AUTHOR_NAME: "ralph",
  GIT_AUTHOR_EMAIL: "ralph@localhost",
  GIT_COMMITTER_NAME: "ralph",
  GIT_COMMITTER_EMAIL: "ralph@localhost",
};

/**
 * Makes a commit that no branch gets: to check it, to keep it under a ref of Ralph's, to send it to a worker. It needs no
 * git identity, and is signed by no one.
 *
 * @returns its hash; no ref names it yet
 */
export async function ownCommit(
  repository: WithGit,
  tree: string,
  { parents, message }: { readonly parents: readonly string[]; readonly message: string },
): Promise<string> {
  const arguments_ = ["commit-tree", tree, ...parents.flatMap((parent) => ["-p", parent])];
  return await lineFrom(repository, arguments_, { input: message, environment: OWN_IDENTITY });
}
