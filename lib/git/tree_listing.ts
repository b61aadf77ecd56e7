import { type Git, outputOfGit, partsOf, READING } from "./run_git.ts";

/** A file, a symbolic link or a submodule of a commit. */
export interface ListedEntry {
  readonly mode: string;
  readonly hash: string;
  readonly path: string;
}

/** All that a commit holds, at any depth, paths from the top level. @throws {RalphError} git-failed */
export async function treeListing(git: Git, commit: string): Promise<readonly ListedEntry[]> {
  const text = await outputOfGit(git, ["ls-tree", "-r", "-z", "--full-tree", commit], { environment: READING });
  return partsOf(text).map((entry) => {
    const cut = entry.indexOf("\t");
    const [mode = "", , hash = ""] = entry.slice(0, cut).split(" ");
    return { mode, hash, path: entry.slice(cut + 1) };
  });
}
