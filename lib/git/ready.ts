import { RalphError } from "../errors/ralph_error.ts";
import { operationIn } from "./operations.ts";
import { type Git, READING, reasonOf } from "./run_git.ts";

/** @throws {RalphError} git-operation-in-progress */
export async function refuseOperations(topLevel: string, gitDirectory: string): Promise<void> {
  const operation = await operationIn(gitDirectory);
  if (operation !== null) throw new RalphError("git-operation-in-progress", { details: { operation, root: topLevel } });
}

/** Git knows who commits: from its configuration or the environment. @throws {RalphError} git-identity-missing */
export async function requireIdentity(git: Git): Promise<void> {
  const variables = ["GIT_COMMITTER_IDENT", "GIT_AUTHOR_IDENT"];
  for (const end of await Promise.all(variables.map((name) => git(["var", name], { environment: READING })))) {
    if (end.exitCode !== 0) throw new RalphError("git-identity-missing", { details: { reason: reasonOf(end) } });
  }
}
