import { join } from "node:path";
import { pathExists } from "../host/files.ts";
import { isReadable } from "./parse_status.ts";
import { outputFrom } from "./run_git.ts";
import type { Repository } from "./types.ts";

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
  const assumed = [...now.assumed].filter((path) => !before.assumed.has(path));
  const skipped = before.sparse ? [] : [...now.skipped].filter((path) => !before.skipped.has(path));
  for (const [option, paths] of [["--no-assume-unchanged", assumed], ["--no-skip-worktree", skipped]] as const) {
    if (paths.length === 0) continue;
    await outputFrom(repository, ["update-index", option, "-z", "--stdin"], { input: paths.join("\0") });
  }
  return [...new Set([...assumed, ...skipped])].sort();
}
