import type { RalphContext } from "../context/context.ts";
import { type CommitRequest, type CommitResult, requireRepository, topLevelPaths } from "../git/repository.ts";

/** Commits files, named relative to the root, and says so. */
export async function commitFiles(
  ralph: RalphContext,
  { paths, subject, ...more }: Pick<CommitRequest, "body" | "paths" | "subject">,
): Promise<CommitResult> {
  const result = await requireRepository(ralph).commit({ paths: topLevelPaths(ralph, paths), subject, ...more });
  if (result.status === "committed") ralph.events.emit({ type: "commit", commit: result.commit, subject });
  return result;
}
