/**
 * Work of a worker's tree on its way to the branch: merged without a working tree, and brought into the main one. By git
 * alone, never by an agent; nothing of a person's is overwritten.
 *
 * @module
 */
import { join } from "node:path";
import { changesBetween } from "./changes.ts";
import { factsOf } from "../host/path_facts.ts";
import { discardPaths } from "./merge_change.ts";
import { gitFailed, isLocked, lineFrom, outputFrom, partsOf, pathsBetween, reasonOf } from "./run_git.ts";
import type { GitTree, Repository, WithGit, WithTree } from "./repository.ts";

/** A landing: from the commit that HEAD has to one that has the work as well. */
export interface Landing {
  readonly tip: string;
  /** On the tip. */
  readonly commit: string;
}

/** Two commits merged, as a tree. */
export interface MergedTree {
  readonly tree: string;
  /** Files in which conflict markers are, or that one of both has deleted; relative to the top level. */
  readonly conflicts: readonly string[];
}

/** Git that merges without a working tree: `merge-tree --write-tree`. */
const LEAST_GIT = "git version 2.38";

/** Tells whether this git can merge without a working tree. @returns its version where it cannot */
export async function tooOldToMerge({ git }: WithGit): Promise<string | null> {
  const version = (await git(["version"])).stdout.trim();
  return version.localeCompare(LEAST_GIT, "en", { numeric: true }) < 0 ? version : null;
}

/** Merges `theirs` onto `ours`. Conflicts leave markers in the tree. @throws {RalphError} git-failed */
export async function mergeTrees({ git }: WithGit, ours: string, theirs: string): Promise<MergedTree> {
  const merge = ["-c", "merge.conflictStyle=merge", "merge-tree", "--write-tree"];
  const arguments_ = [...merge, "-z", "--name-only", "--no-messages", ours, theirs];
  const { exitCode, stdout, stderr } = await git(arguments_);
  if (exitCode !== 0 && exitCode !== 1) throw gitFailed(arguments_, stderr.trim().split("\n").at(-1) ?? "");
  const [tree = "", ...paths] = partsOf(stdout);
  return { tree, conflicts: exitCode === 0 ? [] : [...new Set(paths)] };
}

/** A merged tree as a commit on the tip. */
export async function commitMerged(repository: WithGit, tip: string, tree: string): Promise<string> {
  return await lineFrom(repository, ["commit-tree", tree, "-p", tip, "-m", "ralph: merged work"]);
}

/**
 * Finds the files in the way of going from one commit to another in the working tree: with changes that are not
 * committed.
 *
 * @returns `null` where nothing is
 */
export async function inTheWay(repository: Repository, { tip, commit }: Landing): Promise<readonly string[] | null> {
  const look = ["read-tree", "-n", "-m", "-u", tip, commit];
  const end = await repository.git(look);
  const { exitCode, stderr } = end;
  if (exitCode === 0) return await ignoredInTheWay(repository, { tip, commit });
  if (isLocked(end)) throw gitFailed(look, reasonOf({ stderr, tail: stderr }));
  const wanted = new Set(await pathsBetween(repository, tip, commit));
  const { changed } = await repository.status();
  const paths = changed.map(({ path }) => path);
  const obstacles = paths.filter((path) =>
    [...wanted].some((one) =>
      one === path || one.startsWith(`${path.replace(/\/$/, "")}/`) || path.startsWith(`${one}/`)
    )
  );
  const named = /'([^']+)'/.exec(stderr)?.[1];
  return obstacles.length > 0 ? obstacles : [named ?? (stderr.trim().split("\n").at(-1) || "unknown")];
}

/** Git overwrites what it ignores: files that the tip does not have and the commit would write over. */
async function ignoredInTheWay({ git, topLevel }: WithTree, { tip, commit }: Landing) {
  const added = (await changesBetween({ git }, tip, commit)).filter(({ kind }) => kind === "A");
  const here = added.map(({ path }) => path).filter((path) => factsOf(join(topLevel, path)) !== null);
  return here.length === 0 ? null : here;
}

/** Goes from one commit to the other in index and working tree; HEAD and every other change stay. @throws {RalphError} git-failed */
export async function moveTree(repository: WithGit, from: string, to: string): Promise<void> {
  await outputFrom(repository, ["read-tree", "-m", "-u", from, to]);
}

/** The outcome of a landing that a kill cut short. */
export type LandedAgain =
  | { readonly status: "landed"; readonly paths: readonly string[] }
  /** Somebody has changed these since: the tree is as it was before the landing. */
  | { readonly status: "in-the-way"; readonly paths: readonly string[] };

/**
 * Does a landing that a kill cut short once more, file by file; where a file is neither as it was nor as it shall be, it
 * takes the landing back instead.
 *
 * @throws {RalphError} git-failed
 */
export async function landAgain(repository: GitTree, { tip, commit }: Landing): Promise<LandedAgain> {
  const paths = await pathsBetween(repository, tip, commit);
  const changed = new Set<string>();
  for (const path of paths) {
    if (!await isAsIn(repository, commit, path) && !await isAsIn(repository, tip, path)) changed.add(path);
  }
  const target = changed.size === 0 ? commit : tip;
  await discardPaths(repository, paths.filter((path) => !changed.has(path)), target);
  return changed.size === 0 ? { status: "landed", paths } : { status: "in-the-way", paths: [...changed] };
}

/** The working tree has of this path what the commit has. */
async function isAsIn({ git, topLevel }: WithTree, commit: string, path: string): Promise<boolean> {
  const blob = (await git(["rev-parse", "--verify", "--quiet", `${commit}:${path}`])).stdout.trim();
  const isHere = factsOf(join(topLevel, path)) !== null;
  if (blob === "" || !isHere) return (blob !== "") === isHere;
  const look = ["diff", "--quiet", "--no-ext-diff", "--no-renames", commit, "--", `:(top,literal)${path}`];
  if ((await git(look)).exitCode === 0) return true;
  // the index may know nothing of it yet: compared by what `add` would make of the file
  return (await git(["hash-object", `--path=${path}`, "--", path])).stdout.trim() === blob;
}
