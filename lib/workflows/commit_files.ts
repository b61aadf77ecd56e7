import type { RalphContext } from "../context/context.ts";
import { requireRepository } from "../git/require_repository.ts";
import { topLevelPaths } from "../git/tree_paths.ts";
import type { CommitRequest, CommitResult } from "../git/types.ts";

/** Commits files, named relative to the root, and says so. */
export async function commitFiles(
  ralph: RalphContext,
  { paths, subject, ...more }: Pick<CommitRequest, "body" | "paths" | "subject">,
): Promise<CommitResult> {
  const result = await requireRepository(ralph).commit({ paths: topLevelPaths(ralph, paths), subject, ...more });
  if (result.status === "committed") ralph.events.emit({ type: "commit", commit: result.commit, subject });
  return result;
}
