/**
 * A worker: takes jobs of one repository from a queue, and works on each in a tree of its own clone. It settles nothing
 * and pushes nothing but `refs/ralph/attempts/…`.
 *
 * @module
 */
import { letGo } from "../git/history.ts";
import { dirname, join, relative } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { withFindings } from "../backlog/findings.ts";
import type { Attempt, Backlog, Item } from "../backlog/types.ts";
import type { RalphContext } from "../context/context.ts";
import { RalphError } from "../errors/ralph_error.ts";
import { openRepository } from "../git/open_repository.ts";
import { refsBelow } from "../git/refs.ts";
import { type Repository, requireRepository, rootPaths, topLevelPaths, type WithGit } from "../git/repository.ts";
import { createGit, outputFrom, outputOfGit } from "../git/run_git.ts";
import { cacheFolder, ensureDirectory, hashText, listDirectory, pathExists } from "../host/files.ts";
import { createSlots } from "../host/slots.ts";
import type { Host } from "../host/types.ts";
import { VERSION } from "../host/version.ts";
import { createTurnGuard } from "../loop/attempt/turn_guard.ts";
import { workItem } from "../loop/attempt/work_item.ts";
import * as worktrees from "../loop/parallel/worker_tree.ts";
import { previousWith } from "../loop/policy/attempts.ts";
import type { Engine, HandlePlace } from "./engine.ts";
import { attemptRef, type Job, jobRef, type JobResult, parseJob, repositoryName, runOf } from "./job.ts";
import * as remote from "./remote.ts";
import { turnReporter } from "./turn_events.ts";

/** The context that jobs of one run are worked on with: the configuration as that run has it. */
export interface JobContext extends AsyncDisposable {
  readonly ralph: RalphContext;
  readonly backlog: Backlog;
}

export interface WorkerOptions {
  readonly engine: Engine;
  /** The clone: Ralph's own, whatever is checked out in it. */
  readonly clone: Repository;
  /** As `repositoryName()` gives it. */
  readonly repository: string;
  /** Shown by `ralph queue status`. */
  readonly name: string;
  /** Jobs at once. */
  readonly lanes: number;
  /** Ends after one job. */
  readonly once: boolean;
  /** Opens a job's project, with the clone where the job begins. @throws {RalphError} what is wrong with the job or this machine */
  readonly open: (job: Job) => Promise<JobContext>;
  /** Told of each job when it begins and when it has ended. */
  readonly report: (message: string) => void;
  readonly host: Pick<Host, "clock" | "ids">;
  readonly signal: AbortSignal;
}
/** Before the name of a worker among those who lead something. */
export const WORKER = "worker ";
/** A worker says so often that it is there; it counts as gone after three times that. */
const PRESENT_MS = 10_000;
/** Jobs, after which git may pack what they have left in the clone. */
const TIDY_AFTER = 50;

/**
 * Works on jobs until the signal aborts. A job that this worker may not do is refused with its reason.
 *
 * @returns the last result; `null` where the last job has none, or there was none
 * @throws {RalphError} worker-named, queue-unreachable, git-failed
 */
export async function serveJobs(options: WorkerOptions): Promise<JobResult | null> {
  const { engine, lanes, name, once, report, signal, host: { clock, ids } } = options;
  const runs = new Runs(options);
  let last: JobResult | null = null;
  // jobs that have failed here, or that a kill has cut short: a worker that takes one up again fetches it again
  await remote.dropRefs(options.clone, await refsBelow(options.clone, "refs/ralph/jobs/"));
  const key = `${WORKER}${name}`;
  const holder = ids.random(24);
  if (!await engine.lead(key, holder)) throw new RalphError("worker-named", { details: { name } });
  // the next one comes soon
  using _present = clock.every(PRESENT_MS, () => void engine.lead(key, holder).catch(() => false));
  try {
    await engine.work({
      worker: name,
      lanes,
      once,
      signal,
      handle: async (given, place) => {
        last = null;
        try {
          return last = await runs.work(accepted(given, options.repository), place);
        } catch (error) {
          report(`the job has no result: ${error instanceof Error ? error.message : String(error)}`);
          throw error;
        }
      },
    });
  } finally {
    await runs.close();
    await engine.resign(key, holder).catch(() => {}); // it ends by itself
  }
  return last;
}

/** @throws {RalphError} job-refused */
function accepted(given: unknown, repository: string): Job {
  try {
    const job = parseJob(given, VERSION);
    ensureOfRepository(job, repository);
    return job;
  } catch (error) {
    throw refusal("(unknown)", error);
  }
}

/** @throws {RalphError} job-refused */
export function ensureOfRepository({ attempt: { id }, repository: theirs }: Job, repository: string): void {
  if (theirs === repository) return;
  const reason = `it is of ${theirs}, and this worker takes jobs of ${repository}`;
  throw new RalphError("job-refused", { details: { id, reason } });
}

/** A job that is wrong is wrong for every worker of this kind: handing it out again is no use. */
function refusal(id: string, error: unknown): unknown {
  if (!RalphError.isInstance(error) || error.code === "job-refused") return error;
  return new RalphError("job-refused", { details: { id, reason: error.message }, cause: error });
}

/** A run whose jobs are worked on. */
interface OpenRun {
  readonly context: JobContext;
  /** One a lane. */
  readonly trees: Map<number, worktrees.WorkerTree>;
  /** Ids of the jobs at work, by their lanes. */
  readonly atWork: Map<number, string>;
}

/** The runs that a worker has jobs of: one as a rule, two while the first one's last job ends. */
class Runs {
  readonly #options: WorkerOptions;
  /** The slot for work on the clone itself. */
  readonly #alone = createSlots(1);
  readonly #runs = new Map<string, OpenRun>();
  /** Jobs that have ended. */
  #done = 0;

  constructor(options: WorkerOptions) {
    this.#options = options;
  }

  async work(job: Job, { lane, signal, isNew }: HandlePlace): Promise<JobResult> {
    const { name, report } = this.#options;
    const run = await this.#alone.run(() => this.#runOf(job));
    run.atWork.set(lane, job.attempt.id);
    try {
      const tree = await this.#alone.run(() => this.#treeOf(run, lane));
      report(`job ${job.attempt.id}: ${job.item.id} ${job.item.title}`);
      const place = { ...run.context, tree, worker: name, signal, isNew, push: true } as const;
      const result = await attemptJob(job, { ...place, alone: (act) => this.#alone.run(act) });
      report(`job ${job.attempt.id}: ${job.item.id} ${result.attempt.status}`);
      await this.#alone.run(() => this.#letGo(job));
      return result;
    } finally {
      run.atWork.delete(lane);
    }
  }

  async #letGo(job: Job): Promise<void> {
    const { clone } = this.#options;
    await remote.dropJob(clone, job);
    this.#done += 1;
    if (this.#done % TIDY_AFTER === 0) await remote.tidy(clone);
  }

  async close(): Promise<void> {
    for (const key of this.#runs.keys()) await this.#closeRun(key);
  }

  async #runOf(job: Job): Promise<OpenRun> {
    const key = `${runOf(job)} ${job.project} ${job.workflow} ${job.scope}`;
    const open = this.#runs.get(key);
    if (open !== undefined) return open;
    for (const [other, { atWork }] of this.#runs) if (atWork.size === 0) await this.#closeRun(other);
    await checkOutJob(this.#options.clone, job);
    const context = await this.#options.open(job).catch((error: unknown) => {
      throw refusal(job.attempt.id, error);
    });
    const run: OpenRun = { context, trees: new Map(), atWork: new Map() };
    const { engine, host: { clock } } = this.#options;
    context.ralph.events.attach(turnReporter({ engine, clock, atWork: run.atWork }));
    this.#runs.set(key, run);
    return run;
  }

  async #treeOf({ context: { ralph, backlog }, trees }: OpenRun, lane: number): Promise<worktrees.WorkerTree> {
    const known = trees.get(lane);
    if (known !== undefined) return known;
    const tree = await worktrees.openWorkerTree(ralph, backlog, lane);
    trees.set(lane, tree);
    return tree;
  }

  async #closeRun(key: string): Promise<void> {
    const run = this.#runs.get(key);
    this.#runs.delete(key);
    for (const tree of run?.trees.values() ?? []) await tree[Symbol.asyncDispose]();
    await run?.context[Symbol.asyncDispose]();
  }
}

/** An agent whose limit ends it does not say when is asked again after this. */
const UNKNOWN_WAIT_MS = 5 * 60_000;

export interface JobPlace<Data, Findings> {
  /** The clone's own context. */
  readonly ralph: RalphContext;
  readonly backlog: Backlog<Data, Findings>;
  /** A tree of its own in that clone. */
  readonly tree: worktrees.WorkerTree;
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
  const { ralph, tree, push, alone, signal } = place;
  const repository = requireRepository(ralph);
  const known = push && !place.isNew ? await alone(() => remote.pushedResult(repository, given.attempt.id)) : null;
  if (known !== null) return known.result;
  const ref = attemptRef(given.attempt.id);
  const begin = { ref, item: given.item, attemptId: given.attempt.id };
  const { job, prepared } = await alone(async () => {
    const job = await checkOutJob(repository, given);
    await ralph.state.adopt(place.backlog.stateFiles);
    return { job, prepared: await worktrees.prepareTree(tree, { ...begin, tip: job.base, left: job.left }) };
  });
  const { attempt, paths } = await makeAttempt(job, place, prepared);
  const end = attempt.status === "interrupted" ? attempt.turn?.end : undefined;
  if (end?.reason === "rate-limited" && end.budget === undefined) {
    const until = end.untilMs ?? ralph.host.clock.now() + UNKNOWN_WAIT_MS;
    throw new RalphError("job-given-back", { details: { id: job.attempt.id, reason: end.message, until } });
  }
  signal.throwIfAborted();
  const work = end?.reason === "aborted" ? null : await worktrees.captureTree(tree, [...prepared.left, ...paths]);
  const own = work?.own ?? { subjects: [], trailers: [] };
  const result: JobResult = { v: 1, attempt, commit: null, own, worker: place.worker };
  const made = work?.commit ?? job.base;
  const data = { ...result, commit: work === null ? null : made };
  const subject = `ralph: attempt ${job.attempt.id}`;
  const commit = await remote.commitData(repository, `${made}^{tree}`, [job.base], { subject, data });
  await outputFrom(repository, ["update-ref", ref, commit]);
  const pushed = { ...result, commit: work === null ? null : commit };
  if (!push) return pushed;
  // the turn is paid
  const offer = () => remote.pushRefs(repository, [{ ref, commit, from: null }]);
  const lost = await remote.patiently(ralph, offer, { signal });
  if (lost === null) return pushed;
  const first = await remote.pushedResult(repository, job.attempt.id);
  if (first === null) throw new Error("the result was pushed by another worker, and is gone again");
  return first.result;
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
  const pushed = await remote.pushedJob(repository, id, ralph);
  if (pushed === null) throw refuse(`the remote has no ${jobRef(id)}: it is settled, or was never handed out`);
  if (!isDeepStrictEqual(remote.lightJob(pushed.job), remote.lightJob(job))) {
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
  { conflicts, left }: Awaited<ReturnType<typeof worktrees.prepareTree>>,
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
    note: [inConflict.length === 0 ? "" : worktrees.conflictNote(inConflict), job.told].filter(Boolean).join("\n\n"),
    signal,
    brief: tree.brief,
    guard: createTurnGuard(tree.ralph, { userPaths: new Set(), stateFiles: backlog.stateFiles }),
  });
  await letGo(requireRepository(tree.ralph), tree.ralph.run.root);
  const { turn } = attempt;
  const paths = topLevelPaths(tree.ralph, turn?.changedFiles ?? []);
  if (turn === null) return { attempt, paths };
  // a path of this machine is of no use on another
  const transcript = relative(ralph.root, turn.transcript);
  return { attempt: { ...attempt, turn: { ...turn, transcript } }, paths };
}

/** Between tries to reach the remote. */
const PAUSES_MS: readonly number[] = [2_000, 10_000];
/** A clone may be large, a line slow. */
const CLONE_MS = 60 * 60_000;

/** The path of a worker's clone of a repository, if no other is given. Absolute. */
export async function clonePath(host: Pick<Host, "environment">, repository: string): Promise<string> {
  return join(await cacheFolder(host), "ralph", "clones", hashText(repository).slice(0, 16));
}

/**
 * Clones a repository, or opens the clone that is there.
 *
 * @param path absolute
 * @throws {RalphError} clone-taken, git-failed
 */
export async function openClone(host: Host, url: string, path: string): Promise<Repository> {
  if ((await listDirectory(path)).length === 0) {
    await ensureDirectory(dirname(path));
    const git = createGit(host, dirname(path));
    const clone = ["clone", "--quiet", "--no-checkout", "--", url, path];
    for (const pause of PAUSES_MS) { // git takes away what a broken line left
      if ((await git(clone, { timeoutMs: CLONE_MS })).exitCode === 0) break;
      await host.clock.sleep(pause);
    }
    if (!await pathExists(join(path, ".git"))) await outputOfGit(git, clone, { timeoutMs: CLONE_MS });
  }
  const repository = await openRepository(host, path);
  const theirs = repository === null ? null : await remote.remoteUrl(repository);
  if (repository === null || repository.topLevel !== path || repositoryName(theirs ?? "") !== repositoryName(url)) {
    throw new RalphError("clone-taken", { details: { path, repository: repositoryName(url) } });
  }
  return repository;
}
