import { join, resolve } from "node:path";
import { gitSettings, settingOf } from "./git_settings.ts";
import { commonDirectoryOf, lineFrom } from "./run_git.ts";
import type { WithIndex, WithTree } from "./repository.ts";

/** Absolute path of the folder of hooks. */
export async function hooksFolderOf(repository: WithIndex & WithTree): Promise<string> {
  const { gitDirectory, topLevel } = repository;
  const named = settingOf(await gitSettings(repository), "core.hookspath");
  if (named === undefined) return join(await commonDirectoryOf(gitDirectory), "hooks");
  // git alone knows a person's `~`
  if (named === null || named.startsWith("~") || named.startsWith("%")) {
    return resolve(topLevel, await lineFrom(repository, ["rev-parse", "--git-path", "hooks"]));
  }
  return resolve(topLevel, named);
}
