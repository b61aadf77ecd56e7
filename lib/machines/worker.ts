/**
 * A worker: takes jobs of one repository from a queue, and works on each in a tree of its own clone. It settles nothing
 * and pushes nothing but `refs/ralph/attempts/…`.
 *
 * @module
 */
import { refsBelow } from "../git/refs.ts";
import type { Backlog } from "../backlog/types.ts";
import type { RalphContext } from "../context/context.ts";
import { RalphError } from "../errors/ralph_error.ts";
import type { Repository } from "../git/repository.ts";
import type { Clock, Ids } from "../host/types.ts";
import { createSlots } from "../host/slots.ts";
import { openWorkerTree, type WorkerTree } from "../loop/parallel/worker_tree.ts";
import type { Engine, HandlePlace } from "./engine.ts";
import { type Job, type JobResult, parseJob, runOf } from "./job.ts";
import { dropJob, dropRefs, tidy } from "./remote.ts";
import { turnReporter } from "./turn_events.ts";
import { attemptJob, checkOutJob } from "./work_job.ts";

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
  /** Ralph's version. */
  readonly version: string;
  /** Jobs at once. */
  readonly lanes: number;
  /** Opens a job's project, with the clone where the job begins. @throws {RalphError} what is wrong with the job or this machine */
  readonly open: (job: Job) => Promise<JobContext>;
  /** Told of each job when it begins and when it has ended. */
  readonly report: (message: string) => void;
  readonly clock: Clock;
  readonly ids: Ids;
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
 * @throws {RalphError} worker-named, queue-unreachable, git-failed
 */
export async function serveJobs(options: WorkerOptions): Promise<void> {
  const { engine, lanes, name, signal } = options;
  const runs = new Runs(options);
  await dropJobs(options.clone);
  const key = `${WORKER}${name}`;
  const holder = options.ids.random(24);
  if (!await engine.lead(key, holder)) throw new RalphError("worker-named", { details: { name } });
  const keep = async (): Promise<void> => {
    await engine.lead(key, holder).catch(() => false); // the next one comes soon
  };
  using _present = options.clock.every(PRESENT_MS, () => void keep());
  try {
    await engine.work({
      worker: name,
      lanes,
      signal,
      handle: async (given, place) => await runs.work(accepted(given, options), place),
    });
  } finally {
    await runs.close();
    await engine.resign(key, holder).catch(() => {}); // it ends by itself
  }
}

/** Refs of jobs that have failed here, or that a kill has cut short: a worker that takes one up again fetches it again. */
async function dropJobs(clone: Repository): Promise<void> {
  await dropRefs(clone, await refsBelow(clone, "refs/ralph/jobs/"));
}

/** @throws {RalphError} job-refused */
function accepted(given: unknown, { repository, version }: WorkerOptions): Job {
  let job: Job;
  try {
    job = parseJob(given, version);
  } catch (error) {
    throw refusal("(unknown)", error);
  }
  ensureOfRepository(job, repository);
  return job;
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
  readonly trees: Map<number, WorkerTree>;
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
    await dropJob(clone, job);
    this.#done += 1;
    if (this.#done % TIDY_AFTER === 0) await tidy(clone);
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
    const { engine, clock } = this.#options;
    context.ralph.events.attach(turnReporter({ engine, clock, atWork: run.atWork }));
    this.#runs.set(key, run);
    return run;
  }

  async #treeOf({ context: { ralph, backlog }, trees }: OpenRun, lane: number): Promise<WorkerTree> {
    const known = trees.get(lane);
    if (known !== undefined) return known;
    const tree = await openWorkerTree(ralph, backlog, lane);
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
