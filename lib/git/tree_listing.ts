import { type Git, outputOfGit, partsOf, READING } from "./run_git.ts";

/** A file, a symbolic link or a submodule of a commit. */
export interface ListedEntry {
  readonly mode: string;
  readonly hash: string;
  readonly path: string;
}

/** The newest listings from repositories where git has computed the name of each object. */
const VERIFIED = new Map<string, readonly ListedEntry[]>();
const MOST_KEPT = 8;

/** All that a commit holds, at any depth, paths from the top level. @throws {RalphError} git-failed */
export async function treeListing(git: Git, commit: string): Promise<readonly ListedEntry[]> {
  const verified = VERIFIED.get(commit);
  if (verified !== undefined) return verified;
  const text = await outputOfGit(git, ["ls-tree", "-r", "-z", "--full-tree", commit], { environment: READING });
  return partsOf(text).map((entry) => {
    const cut = entry.indexOf("\t");
    const [mode = "", , hash = ""] = entry.slice(0, cut).split(" ");
    return { mode, hash, path: entry.slice(cut + 1) };
  });
}

/** The same, out of a repository where git has computed the name of each object: it is not asked again. */
export async function verifiedListing(git: Git, commit: string): Promise<readonly ListedEntry[]> {
  const entries = await treeListing(git, commit);
  VERIFIED.set(commit, entries);
  for (const oldest of [...VERIFIED.keys()].slice(0, -MOST_KEPT)) VERIFIED.delete(oldest);
  return entries;
}
