import type { RalphContext } from "../../context.ts";
import type { CommitResult, TreeSnapshot, TreeStatus } from "../../git/types.ts";
import type { Attempt, Backlog, Item, SettleCommit, Settlement } from "../../loop/types.ts";
import { requireRepository } from "../require_repository.ts";
import { topLevelPaths } from "../tree_paths.ts";

/** Paths relative to the top level, with the hash of each one's content. */
export type WorkPaths = Readonly<Record<string, string | null>>;

/** What settling came to. */
export interface Settled {
  readonly settlement: Settlement;
  readonly attempt: Attempt;
  /** Work that was committed. */
  readonly committed: readonly string[];
}

/**
 * Settles an attempt and commits: state, and what the turn left uncommitted where it passed. A commit that the user's
 * hook refuses makes the attempt a failed one, whose reason is what the hook printed.
 */
export async function settleAndCommit<Data, Findings>(
  ralph: RalphContext,
  backlog: Backlog<Data, Findings>,
  item: Item<Data>,
  attempt: Attempt<Findings>,
  work: WorkPaths,
  known?: TreeStatus,
): Promise<Settled> {
  const settlement = await backlog.settle(item, attempt);
  if (settlement.commit === undefined) return { settlement, attempt, committed: [] };
  const workPaths = settlement.commit.work && ralph.config.commits.work ? Object.keys(work) : [];
  const result = await commitSettlement(ralph, settlement.commit, workPaths, known);
  if (result.status !== "refused") return { settlement, attempt, committed: workPaths };

  const message = `the commit was refused by a hook of the repository:\n${result.output}`;
  const refused: Attempt<Findings> = { ...attempt, status: "failed", reason: "commit-refused", message };
  const again = await backlog.settle(item, refused);
  if (again.commit !== undefined) await commitSettlement(ralph, { ...again.commit, work: false }, [], known);
  return { settlement: again, attempt: refused, committed: [] };
}

/** Commits state and work together, in one commit; work runs the user's hooks, state alone does not. */
export async function commitSettlement(
  ralph: RalphContext,
  commit: SettleCommit,
  workPaths: readonly string[],
  known?: TreeStatus,
): Promise<CommitResult> {
  const statePaths = ralph.config.commits.prdChanges ? topLevelPaths(ralph, commit.paths) : [];
  const paths = [...new Set([...workPaths, ...statePaths])];
  if (paths.length === 0) return { status: "nothing", ignored: [] };
  const withWork = workPaths.length > 0;
  const subject = withWork ? commit.subject : commit.stateSubject ?? commit.subject;
  const result = await requireRepository(ralph).commit({
    paths,
    subject,
    ...(commit.body === undefined ? {} : { body: commit.body }),
    hooks: withWork,
    ...(known === undefined ? {} : { known }),
  });
  if (result.status === "committed") ralph.events.emit({ type: "commit", commit: result.commit, subject });
  return result;
}

/** Those of the paths whose content is still what the journal remembers. Pure. */
export function unchangedWork(now: TreeSnapshot, work: WorkPaths): WorkPaths {
  return Object.fromEntries(
    Object.entries(work).filter(([path, content]) => now.contents.has(path) && now.contents.get(path) === content),
  );
}
