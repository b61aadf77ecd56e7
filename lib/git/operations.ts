import { overPaths, partsOf } from "./run_git.ts";
import { join } from "node:path";
import { listDirectory, pathExists } from "../host/files.ts";
import type { WithGit, WithIndex } from "./repository.ts";

/** Names in a git directory that show that something is in progress. */
const OPERATIONS: readonly (readonly [name: string, operation: string])[] = [
  ["rebase-merge", "rebase"],
  ["rebase-apply", "rebase"],
  ["MERGE_HEAD", "merge"],
  ["CHERRY_PICK_HEAD", "cherry-pick"],
  ["REVERT_HEAD", "revert"],
  ["BISECT_LOG", "bisect"],
];

/** By trial: the first that works ends the operation. `--quit` keeps the working tree as it is. */
const ENDINGS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  "rebase": [["rebase", "--abort"], ["rebase", "--quit"]],
  "am": [["am", "--abort"], ["am", "--quit"]],
  "merge": [["merge", "--quit"]],
  "cherry-pick": [["cherry-pick", "--quit"]],
  "revert": [["revert", "--quit"]],
  "bisect": [["bisect", "reset"], ["bisect", "reset", "HEAD"]],
};

/** The first operation that is in progress, such as `merge`, or `null`. */
export async function operationIn(gitDirectory: string): Promise<string | null> {
  const names = new Set(await listDirectory(gitDirectory));
  return OPERATIONS.find(([name]) => names.has(name))?.[1] ?? null;
}

/**
 * Ends what a turn left in progress. The files stay as the turn left them, except after a rebase, which goes back to
 * its start.
 *
 * @returns the operations that were ended
 */
export async function endOperations(repository: WithIndex): Promise<readonly string[]> {
  const ended: string[] = [];
  for (let round = 0; round < OPERATIONS.length; round++) {
    const operation = await operationIn(repository.gitDirectory);
    if (operation === null) break;
    const isAm = await pathExists(join(repository.gitDirectory, "rebase-apply", "applying"));
    let isEnded = false;
    for (const command of ENDINGS[isAm ? "am" : operation]!) isEnded ||= (await repository.git(command)).exitCode === 0;
    if (!isEnded) break;
    ended.push(operation);
  }
  return ended;
}

/** Conflicts that are left in the index would stop every later commit. */
export async function dropConflicts(repository: WithGit): Promise<void> {
  const { stdout } = await repository.git(["diff", "--name-only", "--diff-filter=U", "-z"]);
  await overPaths(repository, ["reset", "--quiet"], partsOf(stdout));
}
