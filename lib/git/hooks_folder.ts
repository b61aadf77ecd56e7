import { join, resolve } from "node:path";
import { factsOf } from "../host/path_facts.ts";
import type { GitFolders } from "./locks.ts";
import { lineFrom } from "./run_git.ts";
import type { WithTree } from "./repository.ts";

/** The answers by git directory, while the repository's configuration is the same. */
const KNOWN = new Map<string, { readonly stamps: string; readonly folder: string }>();

/** Absolute path of the folder of hooks; git is asked again when the repository's configuration has changed. */
export async function hooksFolderOf(
  { git, topLevel, gitDirectory, commonDirectory }:
    & WithTree
    & Omit<GitFolders, "ralphDirectory">,
): Promise<string> {
  const stamps = [join(commonDirectory, "config"), join(gitDirectory, "config.worktree")]
    .map((path) => factsOf(path)?.stamp).join();
  const known = KNOWN.get(gitDirectory);
  if (known?.stamps === stamps) return known.folder;
  const folder = resolve(topLevel, await lineFrom({ git }, ["rev-parse", "--git-path", "hooks"]));
  KNOWN.set(gitDirectory, { stamps, folder });
  return folder;
}
