import { dirname, join, resolve } from "node:path";
import { RalphError } from "../errors/ralph_error.ts";
import { isDirectory, pathExists } from "../host/files.ts";
import type { Environment } from "../host/types.ts";

/** What makes a folder a root. */
const MARKERS = ["ralph.config.json", "scripts/ralph", "ralph/plan.jsonl", ".claude/sprints", ".planning"] as const;

/**
 * The project's folder: the one that was named, else the nearest upward, to the git top level, that holds Ralph's
 * configuration or state, else the current one.
 *
 * @returns an absolute path
 * @throws {RalphError} root-missing, root-no-folder
 */
export async function resolveRoot(environment: Environment, named?: string): Promise<string> {
  if (named !== undefined) {
    const root = resolve(environment.cwd, named);
    if (await isDirectory(root)) return root;
    throw new RalphError(await pathExists(root) ? "root-no-folder" : "root-missing", { details: { root } });
  }
  const folders = await upToTopLevel(environment.cwd);
  for (const folder of folders) {
    for (const marker of MARKERS) {
      if (await pathExists(join(folder, marker))) return folder;
    }
    if (await hasFeatures(folder)) return folder;
  }
  return environment.cwd;
}

/** This folder and those above it, ending with the git top level; this one alone outside a repository. */
async function upToTopLevel(start: string): Promise<readonly string[]> {
  const folders: string[] = [];
  for (let folder = start;; folder = dirname(folder)) {
    folders.push(folder);
    if (await pathExists(join(folder, ".git"))) return folders;
    if (dirname(folder) === folder) return [start];
  }
}

async function hasFeatures(folder: string): Promise<boolean> {
  if (!await pathExists(join(folder, ".ralph"))) return false;
  const { listFeatures } = await import("../workflows/feature/directories.ts");
  return (await listFeatures(folder)).length > 0;
}
