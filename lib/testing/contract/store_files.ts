import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import type { Backlog } from "../../backlog/types.ts";
import { createHost } from "../../host/create_host.ts";
import { createGit } from "../../git/run_git.ts";

/** Files by path, relative to the root, with their text. */
export type StoreFiles = ReadonlyMap<string, string>;

/** All files below the root but git's own and those of runs. */
export function filesIn(root: string, { runsDirectory = ".ralph/runs", logsDirectory }: Partial<Backlog>): StoreFiles {
  const apart = [".git", runsDirectory, ...(logsDirectory === undefined ? [] : [logsDirectory])];
  const files = new Map<string, string>();
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    const path = relative(root, join(entry.parentPath, entry.name)).replaceAll("\\", "/");
    if (!entry.isFile() || apart.some((folder) => path === folder || path.startsWith(`${folder}/`))) continue;
    files.set(path, readFileSync(join(root, path), "utf8"));
  }
  return files;
}

/** Paths whose text is another one, or that came or went. */
export function changedPaths(before: StoreFiles, after: StoreFiles): readonly string[] {
  const paths = new Set([...before.keys(), ...after.keys()]);
  return [...paths].filter((path) => before.get(path) !== after.get(path));
}

/** Those of the paths that git knows; outside of a repository all of them. */
export async function trackedOf(root: string, paths: readonly string[]): Promise<readonly string[]> {
  if (paths.length === 0) return [];
  const host = createHost();
  try {
    const { exitCode, stdout } = await createGit(host, root)(["ls-files", "-z", "--", ...paths]);
    return exitCode === 0 ? stdout.split("\0").filter((path) => path !== "") : paths;
  } finally {
    await host.processes[Symbol.asyncDispose]();
  }
}
