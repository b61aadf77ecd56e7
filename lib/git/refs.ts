import { gitFailed, lineFrom, mayHaveRefs, outputFrom, reasonOf } from "./run_git.ts";
import { readTags } from "./tags.ts";
import type { WithGit, WithIndex } from "./repository.ts";

/** The commit of a name; `null` where there is none. */
export async function commitAt({ git }: WithGit, name: string): Promise<string | null> {
  const found = await git(["rev-parse", "--verify", "--quiet", "--end-of-options", `${name}^{commit}`]);
  return found.exitCode === 0 ? found.stdout.trim() : null;
}

/** True where one commit is another, or is part of its history. */
export async function isAncestor({ git }: WithGit, one: string, other: string): Promise<boolean> {
  return (await git(["merge-base", "--is-ancestor", one, other])).exitCode === 0;
}

/** Names of the refs below folders such as `refs/ralph/jobs/`. @throws {RalphError} git-failed */
export async function refsBelow(repository: WithIndex, ...folders: readonly string[]): Promise<readonly string[]> {
  const mayBe = await Promise.all(folders.map((folder) => mayHaveRefs(repository.gitDirectory, folder)));
  if (!mayBe.includes(true)) return [];
  const listed = await outputFrom(repository, ["for-each-ref", "--format=%(refname)", ...folders]);
  return listed.split("\n").filter((ref) => ref !== "");
}

/** Deletes refs, all of them or none. @throws {RalphError} git-failed */
export async function deleteRefs(repository: WithGit, refs: readonly string[]): Promise<void> {
  if (refs.length === 0) return;
  await outputFrom(repository, ["update-ref", "--stdin"], { input: refs.map((ref) => `delete ${ref}\n`).join("") });
}

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

/** The commits that this process has moved HEAD to: what it makes for a turn carries the turn's mark. */
export const ownMoves: Set<string> = new Set();

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
  if (end.exitCode === 0) ownMoves.add(to);
  if (end.exitCode === 0) return true;
  if (MOVED_REGEXP.test(end.stderr)) return false;
  throw gitFailed(arguments_, reasonOf({ ...end, tail: end.stderr }));
}

const ORIGIN_HEAD = "refs/remotes/origin/HEAD";

/**
 * The branch that work ends up on: the remote's own, `main`, `master`, or the one that git makes first; `null` where no
 * such branch is here.
 */
export async function defaultBranch({ git, gitDirectory }: WithIndex): Promise<string | null> {
  const here = new Set(readTags(gitDirectory, "heads").keys());
  if (here.size === 0) { // in a table, which only git can read, or before the first commit
    const listed = await git(["for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads/"]);
    for (const name of listed.stdout.split("\n").slice(0, -1)) here.add(name);
  }
  const remote = await mayHaveRefs(gitDirectory, "refs/remotes/origin/") ? await remoteBranch({ git }) : null;
  const name = [remote, "main", "master"].find((one) => one !== null && here.has(one)) ??
    (await git(["config", "init.defaultBranch"])).stdout.trim();
  return here.has(name) ? name : null;
}

/** The remote's own branch by its name, be it here or not; `null` where that is not known. */
export async function remoteBranch({ git }: WithGit): Promise<string | null> {
  const name = (await git(["symbolic-ref", "--quiet", ORIGIN_HEAD])).stdout.trim();
  return name.replace(/^refs\/remotes\/origin\//, "") || null;
}
