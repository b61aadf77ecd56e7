import { relative } from "node:path";
import type { Attempt, Backlog, Item } from "../backlog/types.ts";
import type { RalphContext } from "../context/context.ts";
import { requireRepository } from "../git/require_repository.ts";
import { outputFrom } from "../git/run_git.ts";
import { rootPaths, topLevelPaths } from "../git/tree_paths.ts";
import type { Repository } from "../git/types.ts";
import type { WorkerTree } from "../loop/parallel/worker_tree.ts";
import { createTurnGuard } from "../loop/turn_guard.ts";
import { conflictNote } from "../loop/parallel/dispatch.ts";
import { workItem } from "../loop/work_item.ts";
import { JobRefusal } from "./engine.ts";
import { attemptRef, type Job, type JobResult } from "./job.ts";
import { fetchRefs, pushedResult, pushRef } from "./remote.ts";

/** Where a job is worked on. */
export interface JobPlace<Data, Findings> {
  /** The clone's own context. */
  readonly ralph: RalphContext;
  readonly backlog: Backlog<Data, Findings>;
  /** A tree of its own in that clone. */
  readonly tree: WorkerTree;
  /** The worker's name. */
  readonly worker: string;
  readonly signal: AbortSignal;
  /** Runs what touches the clone itself: one at a time over all of its trees. */
  readonly alone: <T>(act: () => Promise<T>) => Promise<T>;
  /** Push what was made to the remote. `false`: the commit stays in this clone. */
  readonly push: boolean;
}

/**
 * Makes one attempt in a clone and pushes it under `refs/ralph/attempts/…`, with what is known of it. Where another worker
 * has pushed the same attempt before, that one counts, and no turn is paid.
 *
 * @throws {JobRefusal} the remote has not what the job begins with
 * @throws {RalphError} git-failed, job-invalid
 */
export async function workJob<Data, Findings>(job: Job, place: JobPlace<Data, Findings>): Promise<JobResult> {
  const { ralph, tree, push, alone } = place;
  const repository = requireRepository(ralph);
  const known = push ? await alone(() => pushedResult(repository, job.attempt.id)) : null;
  if (known !== null) return known;
  const prepared = await alone(async () => {
    await checkOutJob(repository, job);
    await ralph.state.adopt(place.backlog.stateFiles);
    const { base, left, attempt } = job;
    return await tree.prepare({ tip: base.commit, left: left?.commit ?? null, ref: attemptRef(attempt.id) });
  });
  const { attempt, paths } = await makeAttempt(job, place, prepared);
  const ref = attemptRef(job.attempt.id);
  const work = attempt.status === "interrupted" ? null : await tree.capture([...prepared.left, ...paths]);
  place.signal.throwIfAborted();
  const own = work?.own ?? { subjects: [], trailers: [] };
  const result: JobResult = { v: 1, attempt, commit: null, own, worker: place.worker };
  const made = work?.commit ?? job.base.commit;
  const commit = await resultCommit(tree.ralph, job, made, result);
  await outputFrom(repository, ["update-ref", ref, commit]);
  const pushed = { ...result, commit: work === null ? null : commit };
  if (!push) return pushed;
  if (await pushRef(repository, { ref, commit }, null)) return pushed;
  const first = await pushedResult(repository, job.attempt.id);
  if (first === null) throw new Error("the result was pushed by another worker, and is gone again");
  return first;
}

interface Prepared {
  readonly conflicts: readonly string[];
  readonly left: readonly string[];
}

/**
 * Brings a clone to where a job begins. Its own tree has the state files, which the trees of its lanes take over.
 *
 * @throws {JobRefusal} the remote has not what it begins with
 */
export async function checkOutJob(repository: Pick<Repository, "git">, { base, left }: Job): Promise<void> {
  const begins = left === null ? [base] : [base, left];
  const refs = [...new Set(begins.map(({ ref }) => ref))];
  if (!await fetchRefs(repository, refs)) throw new JobRefusal(`the remote has no ${refs.join(" or no ")}`);
  for (const { ref, commit } of begins) {
    const { exitCode } = await repository.git(["merge-base", "--is-ancestor", commit, ref]);
    if (exitCode !== 0) throw new JobRefusal(`${ref} of the remote does not hold ${commit}`);
  }
  await outputFrom(repository, ["checkout", "--quiet", "--force", "--detach", base.commit]);
}

async function makeAttempt<Data, Findings>(
  job: Job,
  { ralph, backlog, tree, signal }: JobPlace<Data, Findings>,
  { conflicts, left }: Prepared,
): Promise<{ readonly attempt: Attempt; readonly paths: readonly string[] }> {
  const before = await requireRepository(tree.ralph).snapshot();
  const inConflict = rootPaths(ralph, conflicts);
  const { attempt } = await workItem(tree.ralph, backlog, job.item as Item<Data>, {
    attempt: job.attempt,
    previous: job.previous as Attempt<Findings> | null,
    last: job.last as Attempt<Findings> | null,
    before,
    start: { since: before.head, changedFiles: rootPaths(ralph, left) },
    judging: job.judging,
    failedBefore: new Set(job.failedBefore),
    ...(job.greenBefore === null ? {} : { greenBefore: job.greenBefore }),
    unseenFailed: job.unseenFailed,
    budget: job.budget,
    ...(inConflict.length === 0 ? {} : { note: conflictNote(inConflict) }),
    signal,
    brief: tree.brief,
    guard: createTurnGuard(tree.ralph, { userPaths: new Set(), stateFiles: backlog.stateFiles }),
  });
  const { turn } = attempt;
  const paths = topLevelPaths(tree.ralph, turn?.changedFiles ?? []);
  if (turn === null) return { attempt, paths };
  // a path of this machine is of no use on another
  const transcript = relative(ralph.root, turn.transcript);
  return { attempt: { ...attempt, turn: { ...turn, transcript } }, paths };
}

/** The result's commit: its message holds the attempt, so that the ref alone is enough. */
async function resultCommit(
  ralph: RalphContext,
  { base, attempt }: Job,
  made: string,
  result: JobResult,
): Promise<string> {
  const own = { ...result, commit: made === base.commit ? null : made };
  const message = `ralph: attempt ${attempt.id}\n\n${JSON.stringify(own)}\n`;
  const repository = requireRepository(ralph);
  const arguments_ = ["commit-tree", `${made}^{tree}`, "-p", base.commit, "-F", "-"];
  return (await outputFrom(repository, arguments_, { input: message })).trim();
}
