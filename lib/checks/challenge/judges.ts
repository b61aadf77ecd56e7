import picomatch from "picomatch";
import type { CommandCheck, Item } from "../../backlog/types.ts";
import { withoutCommands } from "../../backlog/verify_commands.ts";
import type { Config } from "../../config/types.ts";
import { type Entries, namesPath } from "../judging/judging_changes.ts";
import { fileTree } from "../judging/old_judges.ts";
import type { Commits } from "../judging/old_tree.ts";
import { reachedBy } from "../judging/reached.ts";
import { configuresRunner, isManifest } from "../judging/runner_files.ts";

/** What judges an implementation. */
export interface Judging {
  readonly config: Pick<Config, "tests" | "protect">;
  readonly commits: Commits;
  readonly item: Item;
  readonly checks: readonly CommandCheck[];
}

/**
 * Says of a path, relative to the root, whether it is a test, a script that the checks run, or configuration: part of
 * what judges an implementation, and not of the implementation.
 *
 * @param work the files as the checks have seen them
 */
export async function judgeMatcher(
  { config, commits, item, checks }: Judging,
  work: Entries,
): Promise<(path: string) => boolean> {
  const named = picomatch(["ralph.config.json", ".gitignore", ...config.tests.globs, ...config.protect], { dot: true });
  const { files } = await reachedBy(checks.map(({ command }) => command), fileTree(commits, work));
  const subject = withoutCommands([item.title, ...item.criteria ?? []].join("\n"));
  return (path) =>
    named(path) || isManifest(path) || ((configuresRunner(path) || files.has(path)) && !namesPath(subject, path));
}
