import { RalphError } from "../errors/ralph_error.ts";
import { listDirectory } from "../host/files.ts";
import { type Git, READING, reasonOf } from "./run_git.ts";

/** What in a git directory tells that something is in progress. */
const OPERATIONS: readonly (readonly [name: string, operation: string])[] = [
  ["rebase-merge", "rebase"],
  ["rebase-apply", "rebase"],
  ["MERGE_HEAD", "merge"],
  ["CHERRY_PICK_HEAD", "cherry-pick"],
  ["REVERT_HEAD", "revert"],
  ["BISECT_LOG", "bisect"],
];

/** @throws {RalphError} git-operation-in-progress */
export async function refuseOperations(topLevel: string, gitDirectory: string): Promise<void> {
  const names = new Set(await listDirectory(gitDirectory));
  const found = OPERATIONS.find(([name]) => names.has(name));
  if (found !== undefined) {
    throw new RalphError("git-operation-in-progress", { details: { operation: found[1], root: topLevel } });
  }
}

/** Git knows who commits: from its configuration or the environment. @throws {RalphError} git-identity-missing */
export async function requireIdentity(git: Git): Promise<void> {
  const variables = ["GIT_COMMITTER_IDENT", "GIT_AUTHOR_IDENT"];
  for (const end of await Promise.all(variables.map((name) => git(["var", name], { environment: READING })))) {
    if (end.exitCode !== 0) throw new RalphError("git-identity-missing", { details: { reason: reasonOf(end) } });
  }
}
