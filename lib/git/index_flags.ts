import { join } from "node:path";
import { pathExists } from "../host/files.ts";
import { isReadable } from "./parse_status.ts";
import { withOwnIndex } from "./own_index.ts";
import { type IndexEntry, readIndex } from "./read_index.ts";
import { outputFrom, partsOf } from "./run_git.ts";
import type { Repository, TreeSnapshot, WithGit, WithIndex } from "./repository.ts";

/** Paths whose changes an index flag hides from `git status`. */
export interface IndexFlags {
  readonly assumed: ReadonlySet<string>;
  readonly skipped: ReadonlySet<string>;
  /** A sparse checkout: git itself looks after `skip-worktree`. */
  readonly sparse: boolean;
}

/** Reads the flags of the index. */
export async function readIndexFlags(repository: WithIndex & Pick<Repository, "head">): Promise<IndexFlags> {
  const { head } = await repository.head();
  const entries = (head === null ? null : await readIndex(repository, head)) ?? await askedFor(repository);
  const mayBeSparse = await pathExists(join(repository.gitDirectory, "info", "sparse-checkout"));
  const sparse = mayBeSparse ? (await repository.git(["config", "--type=bool", "core.sparseCheckout"])).stdout : "";
  const having = (flag: "isAssumed" | "isSkipped"): ReadonlySet<string> =>
    new Set(entries.filter((entry) => entry[flag] && isReadable(entry.path)).map(({ path }) => path));
  return { assumed: having("isAssumed"), skipped: having("isSkipped"), sparse: sparse.trim() === "true" };
}

async function askedFor(repository: WithGit): Promise<readonly Omit<IndexEntry, "hash" | "mode">[]> {
  const listed = await outputFrom(repository, ["ls-files", "-v", "-z"], { environment: { GIT_OPTIONAL_LOCKS: "0" } });
  return partsOf(listed).map((entry) => ({
    path: entry.slice(2),
    isAssumed: /^[a-z]/.test(entry),
    isSkipped: /^s/i.test(entry),
  }));
}

/**
 * Clears the flags that were not there before.
 *
 * @returns the paths that had one
 */
export async function clearNewFlags(
  repository: WithGit,
  before: IndexFlags,
  now: IndexFlags,
): Promise<readonly string[]> {
  return await mark(repository, flagsOnlyIn(now, before), ["--no-assume-unchanged", "--no-skip-worktree"]);
}

/**
 * Lays the flags in again that a turn took away.
 *
 * @returns the paths
 */
export async function layFlagsAgain(
  repository: WithIndex,
  before: IndexFlags,
  now: IndexFlags,
): Promise<readonly string[]> {
  const lost = flagsOnlyIn(before, now);
  if (lost.assumed.size + lost.skipped.size === 0) return [];
  if (!await pathExists(join(repository.gitDirectory, "index"))) await outputFrom(repository, ["read-tree", "HEAD"]);
  const flags = await ofTracked(repository, lost);
  return await mark(repository, flags, ["--assume-unchanged", "--skip-worktree"]);
}

/** The paths whose changes a person hides. */
export function flaggedPaths({ assumed, skipped, sparse }: IndexFlags): ReadonlySet<string> {
  return new Set([...assumed, ...sparse ? [] : skipped]);
}

/** How a snapshot shows a change that an index flag hides. */
export const ASSUMED = "h ";
export const SKIPPED = "S ";

/** A snapshot that also shows the changes that index flags hide. */
export async function withHidden(
  repository: Pick<Repository, "git" | "gitDirectory" | "withWritten">,
  snapshot: TreeSnapshot,
  flags: IndexFlags,
): Promise<TreeSnapshot> {
  const flagged = flaggedPaths(flags);
  if (flagged.size === 0) return snapshot;
  const of = await ofTracked(repository, { assumed: flagged, skipped: flagged });
  const changed = await withOwnIndex(repository, "copied", async (environment) => {
    await mark(repository, of, ["--no-assume-unchanged", "--no-skip-worktree"], environment);
    const look = ["diff", "--name-only", "-z", "--no-ext-diff", "--no-renames", "--ignore-submodules=all"];
    return partsOf(await outputFrom(repository, look, { environment }));
  });
  const paths = changed.filter((path) => flagged.has(path));
  if (paths.length === 0) return snapshot;
  const codes = (path: string): readonly string[] => [
    ...flags.assumed.has(path) ? [ASSUMED] : [],
    ...flags.skipped.has(path) ? [SKIPPED] : [],
  ];
  const shown = paths.flatMap((path) => codes(path).map((code) => ({ path, code, untracked: false })));
  const { contents } = await repository.withWritten(snapshot, paths);
  return { ...snapshot, changed: [...snapshot.changed, ...shown], contents };
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

async function ofTracked(repository: WithGit, { assumed, skipped }: Flagged): Promise<Flagged> {
  const tracked = new Set(partsOf(await outputFrom(repository, ["ls-files", "-z"])));
  const still = (paths: ReadonlySet<string>) => new Set([...paths].filter((path) => tracked.has(path)));
  return { assumed: still(assumed), skipped: still(skipped) };
}

async function mark(
  repository: WithGit,
  { assumed, skipped }: Flagged,
  [forAssumed, forSkipped]: readonly [string, string],
  environment: Readonly<Record<string, string>> = {},
): Promise<readonly string[]> {
  for (const [option, paths] of [[forAssumed, assumed], [forSkipped, skipped]] as const) {
    if (paths.size === 0) continue;
    const input = [...paths].join("\0");
    await outputFrom(repository, ["update-index", option, "-z", "--stdin"], { input, environment });
  }
  return [...new Set([...assumed, ...skipped])].sort();
}
