import { type Git, outputOfGit, partsOf, READING } from "./run_git.ts";

/** A file, a symbolic link or a submodule of a commit. */
export interface ListedEntry {
  readonly mode: string;
  readonly hash: string;
  readonly path: string;
}

/** The newest listings, by their commit. */
const KNOWN = new Map<string, readonly ListedEntry[]>();
const MOST_KEPT = 8;
const HASH_REGEXP = /^[0-9a-f]{40,64}$/;

/** The ones from repositories where git has computed the name of each object. */
const VERIFIED = new WeakSet<readonly ListedEntry[]>();

/** All that a commit holds, at any depth, paths from the top level. @throws {RalphError} git-failed */
export async function treeListing(git: Git, commit: string): Promise<readonly ListedEntry[]> {
  return KNOWN.get(commit) ?? kept(commit, await listed(git, commit));
}

/** The same, out of a repository where git has computed the name of each object: it is not asked again. */
export async function verifiedListing(git: Git, commit: string): Promise<readonly ListedEntry[]> {
  return knownListing(commit) ?? keepListing(commit, await listed(git, commit));
}

/** The files of a commit where they are known, and are its own. */
export function knownListing(commit: string): readonly ListedEntry[] | null {
  const known = KNOWN.get(commit);
  return known !== undefined && VERIFIED.has(known) ? known : null;
}

/** Git or Ralph has computed the names in it. */
export function keepListing(commit: string, entries: readonly ListedEntry[]): readonly ListedEntry[] {
  VERIFIED.add(entries);
  return kept(commit, entries);
}

function kept(commit: string, entries: readonly ListedEntry[]): readonly ListedEntry[] {
  if (!HASH_REGEXP.test(commit)) return entries; // a name may be another commit's the next time
  KNOWN.set(commit, entries);
  for (const oldest of [...KNOWN.keys()].slice(0, -MOST_KEPT)) KNOWN.delete(oldest);
  return entries;
}

async function listed(git: Git, commit: string): Promise<readonly ListedEntry[]> {
  const text = await outputOfGit(git, ["ls-tree", "-r", "-z", "--full-tree", commit], { environment: READING });
  return partsOf(text).map((entry) => {
    const cut = entry.indexOf("\t");
    const [mode = "", , hash = ""] = entry.slice(0, cut).split(" ");
    return { mode, hash, path: entry.slice(cut + 1) };
  });
}
