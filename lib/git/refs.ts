import { join } from "node:path";
import { isDirectory } from "../host/files.ts";
import { factsOf } from "../host/path_facts.ts";
import { commonDirectoryOf, gitFailed, lineFrom, mayHaveRefs, outputFrom, reasonOf } from "./run_git.ts";
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
  return [...(await readRefs(repository, folders)).keys()];
}

/** Git has no ref of such a name. */
const NO_REF_REGEXP = /\.$|\.\.|\/\.|@\{|[\0- \x7f~^:?*[\\]/;

/** Ralph reads no larger file of refs. */
const LARGEST = 16 * 1024 * 1024;

/** Reads refs below such folders: the object of each, by its name. Git is asked where files do not say it. @throws {RalphError} git-failed */
export async function readRefs(
  repository: WithIndex,
  folders: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const common = await commonDirectoryOf(repository.gitDirectory);
  const isLarge = (factsOf(join(common, "packed-refs"))?.size ?? 0) > LARGEST;
  const rows = isLarge || await isDirectory(join(common, "reftable"))
    ? (await outputFrom(repository, ["for-each-ref", "--format=%(refname) %(objectname)", ...folders])).split("\n")
      .map((line) => line.split(" "))
    : folders.flatMap((folder) =>
      [...readTags(repository.gitDirectory, folder.slice("refs/".length, -1))]
        .map(([name, text]) => [folder + name, text])
    );
  const found = new Map(rows.map(([name = "", text = ""]) => [name, text]));
  const objectOf = (text: string) => text.startsWith("ref: ") ? found.get(text.slice("ref: ".length)) ?? "" : text;
  return new Map(
    [...found].map(([name, text]) => [name, objectOf(text)] as const)
      .filter(([name, object]) => /^[0-9a-f]{40,64}$/.test(object) && !NO_REF_REGEXP.test(name)),
  );
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
  /** More words for `git commit-tree`. */
  readonly options?: readonly string[];
}

/** Makes a commit of a tree. @returns its hash; no ref names it yet */
export async function commitTree(
  repository: WithGit,
  tree: string,
  { parents, message: input, environment = {}, options = [] }: TreeCommit,
): Promise<string> {
  const named = parents.flatMap((parent) => ["-p", parent]);
  return await lineFrom(repository, ["commit-tree", ...options, tree, ...named], { input, environment });
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

/** Commits that this process has taken off a branch for good: nobody brings them back. */
export const givenUp: Set<string> = new Set();

interface MoveOfHead {
  readonly from: string;
  readonly to: string;
  readonly why: string;
  /** @default "HEAD" */
  readonly ref?: string;
}

/** Git says this if a ref is at another commit by now. */
const MOVED_REGEXP = /is at [0-9a-f]+ but expected/;

/**
 * Moves HEAD, and the branch that it is on, to another commit; or the ref that is named.
 *
 * @returns false where it is no longer at `from`: another tool has committed meanwhile
 * @throws {RalphError} git-failed
 */
export async function moveHead({ git }: WithGit, { from, to, why, ref = "HEAD" }: MoveOfHead): Promise<boolean> {
  const arguments_ = ["update-ref", "-m", why, ref, to, from];
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
  const here = new Set(
    (await refsBelow({ git, gitDirectory }, "refs/heads/")).map((ref) => ref.slice("refs/heads/".length)),
  );
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
