import type { RalphContext } from "../context/context.ts";
import { restoreBrief } from "../checks/brief/restore_brief.ts";
import type { Brief } from "../checks/brief/types.ts";
import { requireRepository } from "../git/require_repository.ts";
import { topLevelPaths } from "../git/tree_paths.ts";

/**
 * Lets a hook work in the tree itself, between two iterations, and commits what it left there: never a path that was
 * dirty before. What judges the run is restored.
 */
export async function commitTreeChanges(
  ralph: RalphContext,
  { stateFiles, brief }: { readonly stateFiles: readonly string[]; readonly brief: Brief },
  subject: string,
  work: () => Promise<void>,
): Promise<void> {
  const repository = requireRepository(ralph);
  const before = await repository.snapshot();
  await work();
  await restoreBrief(brief);
  const { paths, now } = await repository.changedSince(before);
  const state = new Set(topLevelPaths(ralph, stateFiles));
  const warn = (message: string): void =>
    ralph.events.emit({ type: "note", level: "warn", message: `${subject}: ${message}` });
  const left = paths.filter((path) => now.contents.has(path) && !state.has(path));
  const mixed = left.filter((path) => before.contents.has(path));
  if (mixed.length > 0) warn(`not committed, since they had changes before: ${mixed.join(", ")}`);
  const own = left.filter((path) => !before.contents.has(path));
  if (own.length === 0 || !ralph.config.commits.work) return;
  const result = await repository.commit({ paths: own, subject, hooks: true, known: now });
  if (result.status === "committed") ralph.events.emit({ type: "commit", commit: result.commit, subject });
  if (result.status === "refused") warn(`a hook of the repository refused the commit:\n${result.output}`);
}
