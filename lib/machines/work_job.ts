import { relative } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { withFindings } from "../backlog/findings.ts";
import type { Attempt, Backlog, Item } from "../backlog/types.ts";
import type { RalphContext } from "../context/context.ts";
import { RalphError } from "../errors/ralph_error.ts";
import { requireRepository, rootPaths, topLevelPaths, type WithGit } from "../git/repository.ts";
import { outputFrom } from "../git/run_git.ts";
import { previousWith } from "../loop/policy/attempts.ts";
import { captureTree, conflictNote, prepareTree, type WorkerTree } from "../loop/parallel/worker_tree.ts";
import { createTurnGuard } from "../loop/attempt/turn_guard.ts";
import { workItem } from "../loop/attempt/work_item.ts";
import { attemptRef, type Job, jobRef, type JobResult } from "./job.ts";
import { commitData, lightJob, pushedJob, pushedResult, pushRefs } from "./remote.ts";

/** An agent whose limit ends it does not say when is asked again after this. */
const UNKNOWN_WAIT_MS = 5 * 60_000;

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
  /** No worker has had the job before: there is no result of it to look for. */
  readonly isNew: boolean;
  /** Push what was made to the remote. `false`: the commit stays in this clone. */
  readonly push: boolean;
}

/**
 * Makes one attempt in a clone and pushes it under `refs/ralph/attempts/…`, with what is known of it. If another worker
 * has pushed the same attempt before, that one counts, and no turn is paid.
 *
 * @throws {RalphError} job-refused, job-invalid, git-failed
 */
export async function attemptJob<Data, Findings>(given: Job, place: JobPlace<Data, Findings>): Promise<JobResult> {
  const { ralph, tree, push, alone } = place;
  const repository = requireRepository(ralph);
  const known = push && !place.isNew ? await alone(() => pushedResult(repository, given.attempt.id)) : null;
  if (known !== null) return known.result;
  const ref = attemptRef(given.attempt.id);
  const begin = { ref, item: given.item, attemptId: given.attempt.id };
  const { job, prepared } = await alone(async () => {
    const job = await checkOutJob(repository, given);
    await ralph.state.adopt(place.backlog.stateFiles);
    return { job, prepared: await prepareTree(tree, { ...begin, tip: job.base, left: job.left }) };
  });
  const { attempt, paths } = await makeAttempt(job, place, prepared);
  const end = attempt.status === "interrupted" ? attempt.turn?.end : undefined;
  if (end?.reason === "rate-limited" && end.budget === undefined) {
    const until = end.untilMs ?? ralph.host.clock.now() + UNKNOWN_WAIT_MS;
    const details = { id: job.attempt.id, reason: end.message, until };
    throw new RalphError("job-given-back", { details });
  }
  const work = attempt.status === "interrupted" ? null : await captureTree(tree, [...prepared.left, ...paths]);
  place.signal.throwIfAborted();
  const own = work?.own ?? { subjects: [], trailers: [] };
  const result: JobResult = { v: 1, attempt, commit: null, own, worker: place.worker };
  const made = work?.commit ?? job.base;
  const data = { ...result, commit: work === null ? null : made };
  const subject = `ralph: attempt ${job.attempt.id}`;
  const commit = await commitData(repository, `${made}^{tree}`, [job.base], { subject, data });
  await outputFrom(repository, ["update-ref", ref, commit]);
  const pushed = { ...result, commit: work === null ? null : commit };
  if (!push || await pushRefs(repository, [{ ref, commit, from: null }]) === null) return pushed;
  const first = await pushedResult(repository, job.attempt.id);
  if (first === null) throw new Error("the result was pushed by another worker, and is gone again");
  return first.result;
}

interface Prepared {
  readonly conflicts: readonly string[];
  readonly left: readonly string[];
}

/**
 * Brings a clone to where a job begins. Its own tree has the state files, which the trees of its lanes take over. The
 * remote is what says which jobs there are: one that only a queue or a file knows is no job of the repository.
 *
 * @returns the job as the remote has it, with all that was attempted before it
 * @throws {RalphError} job-refused: the remote has no such job, or another one
 */
export async function checkOutJob(repository: WithGit, job: Job): Promise<Job> {
  const { base, attempt: { id }, ralph } = job;
  const refuse = (reason: string): RalphError => new RalphError("job-refused", { details: { id, reason } });
  const pushed = await pushedJob(repository, id, ralph);
  if (pushed === null) throw refuse(`the remote has no ${jobRef(id)}: it is settled, or was never handed out`);
  if (!isDeepStrictEqual(lightJob(pushed.job), lightJob(job))) {
    throw refuse(`the remote has another one under ${jobRef(id)}`);
  }
  const begins = [...new Set([base, ...job.left === null ? [] : [job.left]])];
  if (pushed.parents.join() !== begins.join()) throw refuse("it does not begin with the commits that it names");
  await outputFrom(repository, ["checkout", "--quiet", "--force", "--detach", base]);
  return pushed.job;
}

/** An attempt that a job names, as the backlog reads it. @throws {RalphError} job-refused */
async function earlierAttempt<Data, Findings>(
  backlog: Backlog<Data, Findings>,
  { attempt: { id } }: Job,
  attempt: Attempt | null,
): Promise<Attempt<Findings> | null> {
  if (attempt === null) return null;
  const read = await withFindings(backlog, attempt);
  if (read.status === "read") return read.attempt;
  throw new RalphError("job-refused", { details: { id, reason: `its attempt ${attempt.id}: ${read.problem}` } });
}

async function makeAttempt<Data, Findings>(
  job: Job,
  { ralph, backlog, tree, signal }: JobPlace<Data, Findings>,
  { conflicts, left }: Prepared,
): Promise<{ readonly attempt: Attempt; readonly paths: readonly string[] }> {
  const before = await requireRepository(tree.ralph).snapshot();
  const [previous, last] = await Promise.all([job.previous, job.last].map((one) => earlierAttempt(backlog, job, one)));
  const inConflict = rootPaths(ralph, conflicts);
  const { attempt } = await workItem(tree.ralph, backlog, job.item as Item<Data>, {
    attempt: job.attempt,
    previous: previousWith(job.attempt.id, previous ?? null, inConflict),
    last: last ?? null,
    before,
    start: { since: before.head, changedFiles: rootPaths(ralph, left) },
    judging: job.judging,
    failedBefore: new Set(job.failedBefore),
    ...(job.greenBefore === null ? {} : { greenBefore: job.greenBefore }),
    unseenFailed: job.unseenFailed,
    budget: job.budget,
    note: [...inConflict.length === 0 ? [] : [conflictNote(inConflict)], job.told].filter((one) => one !== "").join(
      "\n\n",
    ),
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
