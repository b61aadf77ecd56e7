import { join } from "node:path";
import { pathExists } from "../host/files.ts";
import { isReadable } from "./parse_status.ts";
import { outputFrom, partsOf, pathsBetween } from "./run_git.ts";
import { takeOut } from "./take_out.ts";
import type { Repository, TreeSnapshot } from "./types.ts";

/** Paths whose changes an index flag hides from `git status`. */
export interface IndexFlags {
  readonly assumed: ReadonlySet<string>;
  readonly skipped: ReadonlySet<string>;
  /** A sparse checkout: git itself looks after `skip-worktree`. */
  readonly sparse: boolean;
}

/** Reads the flags of the index. */
export async function readIndexFlags(repository: Pick<Repository, "git" | "gitDirectory">): Promise<IndexFlags> {
  const listed = await outputFrom(repository, ["ls-files", "-v", "-z"], { environment: { GIT_OPTIONAL_LOCKS: "0" } });
  const mayBeSparse = await pathExists(join(repository.gitDirectory, "info", "sparse-checkout"));
  const sparse = mayBeSparse ? (await repository.git(["config", "--type=bool", "core.sparseCheckout"])).stdout : "";
  const assumed = new Set<string>();
  const skipped = new Set<string>();
  for (const entry of listed.split("\0")) {
    const letter = entry[0] ?? "H";
    if (letter === "H" || !isReadable(entry)) continue;
    if (letter >= "a" && letter <= "z") assumed.add(entry.slice(2));
    if (letter === "S" || letter === "s") skipped.add(entry.slice(2));
  }
  return { assumed, skipped, sparse: sparse.trim() === "true" };
}

/**
 * Clears the flags that were not there before.
 *
 * @returns the paths that had one
 */
export async function clearNewFlags(
  repository: Pick<Repository, "git">,
  before: IndexFlags,
  now: IndexFlags,
): Promise<readonly string[]> {
  return await mark(repository, flagsOnlyIn(now, before), ["--no-assume-unchanged", "--no-skip-worktree"]);
}

/**
 * Lays the flags in again that a turn took away, and takes the paths that they hide out of its commits: such a change is
 * a person's.
 *
 * @returns the paths
 */
export async function layFlagsAgain(
  repository: Repository,
  { before, now }: { readonly before: IndexFlags; readonly now: IndexFlags },
  heads: { readonly from: TreeSnapshot["head"]; readonly to: TreeSnapshot["head"] },
): Promise<readonly string[]> {
  const lost = flagsOnlyIn(before, now);
  const hidden = new Set([...lost.assumed, ...lost.skipped]);
  if (hidden.size === 0) return [];
  if (!await pathExists(join(repository.gitDirectory, "index"))) await outputFrom(repository, ["read-tree", "HEAD"]);
  const { from, to } = heads;
  if (from !== null && to !== null && from !== to) {
    const committed = (await pathsBetween(repository, from, to)).filter((path) => hidden.has(path));
    if (committed.length > 0) await takeOut(repository, from, committed);
  }
  const tracked = new Set(partsOf(await outputFrom(repository, ["ls-files", "-z"])));
  const still = (paths: ReadonlySet<string>): readonly string[] => [...paths].filter((path) => tracked.has(path));
  const flags = { assumed: new Set(still(lost.assumed)), skipped: new Set(still(lost.skipped)) };
  return await mark(repository, flags, ["--assume-unchanged", "--skip-worktree"]);
}

type Flagged = Pick<IndexFlags, "assumed" | "skipped">;

/** A sparse checkout's `skip-worktree` is git's own affair. */
function flagsOnlyIn(flags: IndexFlags, others: IndexFlags): Flagged {
  const without = (paths: ReadonlySet<string>, known: ReadonlySet<string>): ReadonlySet<string> =>
    new Set([...paths].filter((path) => !known.has(path)));
  const isSparse = flags.sparse || others.sparse;
  return {
    assumed: without(flags.assumed, others.assumed),
    skipped: isSparse ? new Set() : without(flags.skipped, others.skipped),
  };
}

async function mark(
  repository: Pick<Repository, "git">,
  { assumed, skipped }: Flagged,
  [forAssumed, forSkipped]: readonly [string, string],
): Promise<readonly string[]> {
  for (const [option, paths] of [[forAssumed, assumed], [forSkipped, skipped]] as const) {
    if (paths.size === 0) continue;
    await outputFrom(repository, ["update-index", option, "-z", "--stdin"], { input: [...paths].join("\0") });
  }
  return [...new Set([...assumed, ...skipped])].sort();
}
