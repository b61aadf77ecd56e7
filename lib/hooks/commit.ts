import type { Restore } from "../backlog/state_files.ts";
import type { RalphContext } from "../context/context.ts";
import { protectedPaths } from "../checks/guards.ts";
import { requireRepository } from "../git/require_repository.ts";
import { rootPaths, topLevelPaths } from "../git/tree_paths.ts";
import { putBackEdits } from "../context/put_back_edits.ts";

/**
 * Lets a hook work in the tree itself, between two iterations, and commits what it left there: never a path that was
 * dirty before. State files are put back.
 */
export async function commitTreeChanges(
  ralph: RalphContext,
  backlog: { readonly stateFiles: readonly string[]; readonly restore?: Restore },
  subject: string,
  work: () => Promise<void>,
): Promise<void> {
  const { stateFiles } = backlog;
  const repository = requireRepository(ralph);
  const before = await repository.snapshot();
  await work();
  await putBackEdits(ralph, backlog);
  const { paths, now } = await repository.changedSince(before);
  const state = new Set(topLevelPaths(ralph, stateFiles));
  const warn = (message: string): void =>
    ralph.events.emit({ type: "note", level: "warn", message: `${subject}: ${message}` });
  const left = paths.filter((path) => now.contents.has(path) && !state.has(path));
  const guarded = protectedPaths(rootPaths(ralph, left), ralph.config.protect);
  if (guarded.length > 0) return warn(`changed protected files, nothing is committed: ${guarded.join(", ")}`);
  const mixed = left.filter((path) => before.contents.has(path));
  if (mixed.length > 0) warn(`not committed, since they had changes before: ${mixed.join(", ")}`);
  const own = left.filter((path) => !before.contents.has(path));
  if (own.length === 0 || !ralph.config.commits.work) return;
  const result = await repository.commit({ paths: own, subject, hooks: true, known: now });
  if (result.status === "committed") ralph.events.emit({ type: "commit", commit: result.commit, subject });
  if (result.status === "refused") warn(`a hook of the repository refused the commit:\n${result.output}`);
}
