import { outputFrom } from "./run_git.ts";
import type { WithGit } from "./repository.ts";

type Variables = Readonly<Record<string, string>>;

/** The entry that takes a path out of an index. @param digits of a hash of the repository */
export function removedEntry(path: string, digits = 40): string {
  return `0 ${"0".repeat(digits)}\t${path}\0`;
}

/** The entries of these paths in a commit or tree, or their removal. @param base `null`: it has none */
export async function entriesAt(
  repository: WithGit,
  base: string | null,
  paths: readonly string[],
  named = true,
): Promise<string> {
  const listed = base === null
    ? ""
    : await outputFrom(repository, ["ls-tree", "-r", "-z", "--full-tree", base, ...named ? ["--", ...paths] : []]);
  const found = new Map(listed.split("\0").map((entry) => [entry.slice(entry.indexOf("\t") + 1), `${entry}\0`]));
  const digits = /[0-9a-f]{40,}/.exec(listed)?.[0].length;
  return paths.map((path) => found.get(path) ?? removedEntry(path, digits)).join("");
}

/** Lays entries over an index. @throws {RalphError} git-failed */
export async function layEntries(repository: WithGit, entries: string, environment: Variables = {}): Promise<void> {
  await outputFrom(repository, ["update-index", "-z", "--replace", "--index-info"], { input: entries, environment });
}

/** Takes paths out of an index, and leaves their files; with none nothing is run. @throws {RalphError} git-failed */
export async function dropEntries(repository: WithGit, paths: readonly string[]): Promise<void> {
  if (paths.length === 0) return;
  await outputFrom(repository, ["update-index", "--force-remove", "-z", "--stdin"], { input: paths.join("\0") });
}
