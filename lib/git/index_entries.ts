import { outputFrom } from "./run_git.ts";
import type { WithGit, WithTree } from "./repository.ts";
import { join } from "node:path";
import { factsOf } from "../host/path_facts.ts";

type Variables = Readonly<Record<string, string>>;

/** The entry that takes a path out of an index. */
export function removedEntry(path: string): string {
  return `0 0\t${path}\0`;
}

/** The entries of these paths in a commit or tree, or their removal. @param base `null`: it has none */
export async function entriesAt(
  repository: WithGit,
  base: string | null,
  paths: readonly string[],
  named = true,
): Promise<string> {
  const listed = base === null || paths.length === 0
    ? ""
    : await outputFrom(repository, ["ls-tree", "-r", "-z", "--full-tree", base, ...named ? ["--", ...paths] : []]);
  const found = new Map(listed.split("\0").map((entry) => [entry.slice(entry.indexOf("\t") + 1), `${entry}\0`]));
  return paths.map((path) => found.get(path) ?? removedEntry(path)).join("");
}

/** Mode, kind and hash of each path in a commit or tree; `null` where there is none. */
export async function entriesOf(
  repository: WithGit,
  tree: string,
  paths: readonly string[],
): Promise<readonly (string | null)[]> {
  const entries = (await entriesAt(repository, tree, paths)).split("\0").slice(0, paths.length);
  return entries.map((entry) => entry.startsWith("0 ") ? null : entry.split("\t")[0]!);
}

/** Lays entries over an index. @throws {RalphError} git-failed */
export async function layEntries(repository: WithGit, entries: string, environment: Variables = {}): Promise<void> {
  const digits = /(?<= )[0-9a-f]{40,}(?=\t)/.exec(entries)?.[0].length; // of a hash of the repository
  if (digits === undefined) {
    const gone = entries.split("\0").map((entry) => entry.slice(entry.indexOf("\t") + 1)).filter((path) => path !== "");
    return await dropEntries(repository, gone, environment);
  }
  const input = entries.replaceAll(/(?<=^|\0)0 0(?=\t)/g, `0 ${"0".repeat(digits)}`);
  await outputFrom(repository, ["update-index", "-z", "--replace", "--index-info"], { input, environment });
}

/** Takes paths out of an index, and leaves their files; with none nothing is run. @throws {RalphError} git-failed */
export async function dropEntries(
  repository: WithGit,
  paths: readonly string[],
  environment: Variables = {},
): Promise<void> {
  if (paths.length === 0) return;
  const input = paths.join("\0");
  await outputFrom(repository, ["update-index", "--force-remove", "-z", "--stdin"], { input, environment });
}

/** Stages paths as the tree has them, also those that are gone. @param options for git, before the command */
export async function stagePaths(
  repository: WithTree,
  paths: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  options: readonly string[] = [],
): Promise<void> {
  const behind = behindLinks(repository.topLevel, paths);
  const rest = behind.length === 0 ? paths : paths.filter((path) => !behind.includes(path));
  // `git add` refuses tracked files of an ignored folder, and names that neither the tree nor the index has
  for (const [given, how] of [[behind, ["--force-remove"]], [rest, ["--add", "--remove", "--replace"]]] as const) {
    if (given.length === 0) continue;
    const input = given.join("\0");
    await outputFrom(repository, [...options, "update-index", ...how, "-z", "--stdin"], { input, environment });
  }
}

/** The paths of which a folder is a symbolic link now: git refuses to look at them, and the tree has none of them. */
export function behindLinks(topLevel: string, paths: readonly string[]): readonly string[] {
  const known = new Map<string, boolean>();
  function isBehind(folder: string): boolean {
    let is = known.get(folder);
    if (is === undefined) {
      const parent = folder.lastIndexOf("/");
      is = (parent > 0 && isBehind(folder.slice(0, parent))) || factsOf(join(topLevel, folder))?.kind === "link";
      known.set(folder, is);
    }
    return is;
  }
  return paths.filter((path) => path.includes("/") && isBehind(path.slice(0, path.lastIndexOf("/"))));
}
