import { dirname, isAbsolute, join, resolve } from "node:path";
import { realPath } from "../host/file_state.ts";
import { isDirectory, readText } from "../host/files.ts";
import { factsOf } from "../host/path_facts.ts";
import type { Environment } from "../host/types.ts";
import { commonDirectoryOf } from "./run_git.ts";
import type { GitFolders } from "./repository.ts";

/** A working tree, read from its files. */
export type FoundRepository = GitFolders & { readonly topLevel: string };

/** Variables by which a user moves a repository's parts: then git itself is asked. */
const MOVING_VARIABLES = ["GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_CEILING_DIRECTORIES"];

/**
 * Finds the repository that a folder is in by its files, without starting git. Only the plain cases: a `.git` folder, or
 * the `.git` file of a linked worktree. Any other `.git` ends the search, as git's own does: a submodule is no part of
 * the repository around it.
 *
 * @param cwd absolute, symbolic links resolved
 * @returns `null` where git itself must be asked
 */
export async function findFolders(
  cwd: string,
  { variables }: Pick<Environment, "variables">,
): Promise<FoundRepository | null> {
  if (MOVING_VARIABLES.some((name) => variables[name] !== undefined)) return null;
  for (let folder = cwd;; folder = dirname(folder)) {
    const dotGit = join(folder, ".git");
    if (factsOf(dotGit) !== null) {
      const gitDirectory = await isDirectory(dotGit) ? realPath(dotGit) : await linkedDirectory(dotGit);
      return gitDirectory === null ? null : await plainFolders(folder, gitDirectory);
    }
    if (folder === dirname(folder)) return null;
  }
}

async function plainFolders(topLevel: string, gitDirectory: string): Promise<FoundRepository | null> {
  const commonDirectory = await commonDirectoryOf(gitDirectory);
  const config = await readText(join(commonDirectory, "config"));
  if (config === null || await readText(join(gitDirectory, "HEAD")) === null) return null;
  if (/^\s*(bare\s*=\s*true|worktree\s*=)/im.test(config)) return null;
  return { topLevel, gitDirectory, commonDirectory, ralphDirectory: join(gitDirectory, "ralph") };
}

/** The folder that the `.git` file of a linked worktree names; a submodule's is left to git. */
async function linkedDirectory(dotGit: string): Promise<string | null> {
  const text = await readText(dotGit).catch(() => null);
  const named = /^gitdir: (.+)$/s.exec(text ?? "")?.[1]?.trimEnd(); // a path may have line breaks
  if (named === undefined || !/[\\/]worktrees[\\/][^\\/]+$/.test(named)) return null;
  return isAbsolute(named) ? named : resolve(dirname(dotGit), named);
}
