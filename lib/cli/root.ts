import { dirname, join, resolve } from "node:path";
import { CONFIG_FILE } from "../config/load.ts";
import { RalphError } from "../errors/ralph_error.ts";
import { isDirectory, pathExists } from "../host/files.ts";
import type { Invocation } from "./command.ts";
import { usedAt } from "./workflow.ts";

/**
 * The project's folder: the one that was named, else the nearest upward, to the git top level, that holds Ralph's
 * configuration or a workflow's state, else the current one.
 *
 * @returns an absolute path
 * @throws {RalphError} root-missing, root-no-folder
 */
export async function resolveRoot(
  { flags, host: { environment }, program }: Pick<Invocation, "flags" | "host" | "program">,
): Promise<string> {
  const named = flags.text("root");
  if (named !== undefined) {
    const root = resolve(environment.cwd, named);
    if (await isDirectory(root)) return root;
    throw new RalphError(await pathExists(root) ? "root-no-folder" : "root-missing", { details: { root } });
  }
  for (const folder of await upToTopLevel(environment.cwd)) {
    if (await pathExists(join(folder, CONFIG_FILE)) || (await usedAt(folder, program.workflows)).length > 0) {
      return folder;
    }
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
