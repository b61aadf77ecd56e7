import { join } from "node:path";
import { factsOf } from "../host/path_facts.ts";
import { outputFrom } from "./run_git.ts";
import type { WithTree } from "./repository.ts";

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
