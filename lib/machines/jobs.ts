/**
 * Jobs by hand: whatever runs programs (a CI matrix, Kubernetes Jobs, a batch system) is the engine. Jobs are taken in one
 * call, worked on anywhere, and landed in another; the calls share a run by the remote, so that each may be in a clone of
 * its own and may be killed and repeated.
 *
 * @module
 */
import { join } from "node:path";

import { journalKeyOf } from "../backlog/attempts.ts";
import type { Backlog } from "../backlog/types.ts";
import type { RalphContext, RunLock } from "../context/context.ts";
import { RalphError } from "../errors/ralph_error.ts";
import { inTheWay } from "../git/land.ts";
import { type Repository, requireRepository } from "../git/repository.ts";
import { outputFrom } from "../git/run_git.ts";
import { readText, removePath, writeOwn } from "../host/files.ts";
import { createSlots } from "../host/slots.ts";
import { machineName } from "../host/this_process.ts";
import { VERSION } from "../host/version.ts";
import { limitReached, type Progress } from "../loop/policy/progress.ts";
import type { LoopOutcome } from "../loop/run/outcome.ts";
import { openWorkerTree } from "../loop/parallel/worker_tree.ts";
import { runLoop } from "../loop/run/run_loop.ts";
import { ByHand } from "./by_hand.ts";
import { jobHead } from "./coordinator.ts";
import { type Job, type JobResult, parseJob, parseResult, repositoryName } from "./job.ts";
import { pushedJob, pushedResult, remoteUrl } from "./remote.ts";
import { openSharedRun, type RunMemory, type SharedRun, type Spent } from "./shared_journal.ts";
import { attemptJob, checkOutJob, ensureOfRepository, type JobContext } from "./worker.ts";

/** Jobs that are out at once, where nothing else is said. */
const JOBS_AT_ONCE = 16;
/** How jobs are taken and landed. */
export interface JobsOptions {
  /** The workflow that `ralph job work` opens the backlog by. @default the backlog's name */
  readonly workflow?: string;
}

/** How jobs are taken. */
export interface TakeOptions extends JobsOptions {
  /** Jobs that are out at once, from 1. @default 16 */
  readonly max?: number;
}

/** Jobs that are out. */
export interface TakenJobs {
  /** Jobs that were out before and have no result yet are among them. */
  readonly jobs: readonly Job[];
  /** `handed-out` where there are jobs, else how the run ended. */
  readonly outcome: LoopOutcome;
}

/** The outcome of results that were landed. */
export interface LandedResults {
  /** `open`: the attempt failed, and the item comes again. */
  readonly landed: readonly {
    readonly attempt: string;
    readonly item: string;
    readonly status: "passed" | "open" | "parked";
  }[];
  /** Ids of attempts without a result. */
  readonly out: readonly string[];
  /** `handed-out` where more is to do, else how the run ended. */
  readonly outcome: LoopOutcome;
}

/**
 * Takes items from a backlog as jobs for workers anywhere, and pushes them under `refs/ralph/jobs/…`. Called again, it
 * gives the jobs that have no result yet, and more up to `max`; a job that was handed out five times in vain is given up.
 * Nothing is left to take: the run ends with its final check, as `runLoop()` does.
 *
 * @throws {RalphError} job-stale, job-clone-unfit, remote-missing, parallel-impossible, and what `runLoop()` throws
 * @example One item as a job, worked on in the same clone, and landed
 * ```ts
 * import { memoryBacklog } from "ralph";
 * import { landResult, takeJobs, workJob } from "ralph/machines";
 * import { testContext } from "ralph/testing";
 *
 * const turn = { write: { "a.txt": "a" }, say: "<ralph>DONE</ralph>" };
 * await using ralph = await testContext({ agent: { turns: [turn] }, remote: true });
 * const backlog = memoryBacklog([{ id: "a", title: "write a.txt", checks: ["test -f a.txt"] }]);
 * const { jobs } = await takeJobs(ralph, backlog);
 * for (const job of jobs) await workJob(ralph, backlog, job);
 * console.log((await landResult(ralph, backlog)).outcome.status); // passed
 * ```
 */
export async function takeJobs<Data, Findings>(
  ralph: RalphContext,
  backlog: Backlog<Data, Findings>,
  options: TakeOptions = {},
): Promise<TakenJobs> {
  const { max = JOBS_AT_ONCE } = options;
  await using _lock = await ralph.lock.acquire("job take");
  const opened = await openJobs(ralph, backlog, options, null);
  const outcome = await opened.run(max);
  return { jobs: opened.byHand.out.map(({ job }) => job), outcome };
}

/**
 * Lands what workers have pushed: merges it, runs its checks again, commits it on the branch, and pushes branch and run
 * together. It is the landing of items that are worked on at once on one machine. If it was the last one, the run ends
 * with its final check.
 *
 * @param results those to land. @default all that are on the remote
 * @throws {RalphError} job-not-out, job-invalid, job-stale, job-clone-unfit, and what `runLoop()` throws
 * @example Land what is there, and see what is still out
 * ```ts
 * import { memoryBacklog } from "ralph";
 * import { landResult, takeJobs } from "ralph/machines";
 * import { testContext } from "ralph/testing";
 *
 * await using ralph = await testContext({ agent: { turns: [] }, remote: true });
 * const backlog = memoryBacklog([{ id: "a", title: "write a.txt", checks: ["test -f a.txt"] }]);
 * await takeJobs(ralph, backlog);
 * const { landed, out } = await landResult(ralph, backlog);
 * console.log(landed.length, out.length); // 0 1
 * ```
 */
export async function landResult<Data, Findings>(
  ralph: RalphContext,
  backlog: Backlog<Data, Findings>,
  results: JobResult | readonly JobResult[] | null = null,
  options: JobsOptions = {},
): Promise<LandedResults> {
  const given = results === null ? null : (Array.isArray(results) ? results : [results]) as readonly JobResult[];
  await using _lock = await ralph.lock.acquire("job land");
  const told = given?.map((one) => parseResult(one)) ?? [];
  const { key, byHand, run } = await openJobs(ralph, backlog, options, told);
  const before = new Map(ralph.journal.open(key).map(({ attemptId, item }) => [attemptId, item]));
  const unknown = told.find(({ attempt }) => !before.has(attempt.id));
  if (unknown !== undefined) throw new RalphError("job-not-out", { details: { id: unknown.attempt.id } });
  const outcome = await run(Math.max(1, before.size));
  const passed = new Set(ralph.journal.passed(key).map(({ id }) => id));
  const parked = new Set(ralph.journal.parked(key).map(({ id }) => id));
  const landed = byHand.settledIds.flatMap((attempt) => {
    const item = before.get(attempt)?.id;
    if (item === undefined) return [];
    const end = parked.has(item) ? "parked" : "open";
    return [{ attempt, item, status: passed.has(item) ? "passed" : end } as const];
  });
  return { landed, out: byHand.out.map(({ id }) => id), outcome };
}

/** How one job is worked on. */
export interface WorkJobOptions {
  /** Push what was made. `false`: it stays in this clone. @default true */
  readonly push?: boolean;
  /** Shown with the result. @default the machine's name */
  readonly worker?: string;
  /** @default the one of the context */
  readonly signal?: AbortSignal;
}

/**
 * Makes the attempt of a job in a tree of its own of this clone, and pushes what came of it. A result that is there already
 * is returned, and no turn is paid. The clone's checkout is moved to where the job begins while it lasts, and back.
 *
 * @throws {RalphError} job-refused, job-invalid, job-version, job-clone-unfit, run-locked, agent-missing, git-failed
 * @example A job from anywhere
 * ```ts
 * import { memoryBacklog } from "ralph";
 * import { takeJobs, workJob } from "ralph/machines";
 * import { testContext } from "ralph/testing";
 *
 * const turn = { write: { "a.txt": "a" }, say: "<ralph>DONE</ralph>" };
 * await using ralph = await testContext({ agent: { turns: [turn] }, remote: true });
 * const backlog = memoryBacklog([{ id: "a", title: "write a.txt", checks: ["test -f a.txt"] }]);
 * const [job] = (await takeJobs(ralph, backlog)).jobs;
 * const { attempt } = await workJob(ralph, backlog, JSON.parse(JSON.stringify(job)));
 * console.log(attempt.status); // verified
 * ```
 */
export async function workJob<Data, Findings>(
  ralph: RalphContext,
  backlog: Backlog<Data, Findings>,
  given: Job,
  { push = true, worker = machineName(), signal = ralph.signal }: WorkJobOptions = {},
): Promise<JobResult> {
  const repository = requireRepository(ralph);
  const job = parseJob(given, VERSION);
  await ensureOwnJob(repository, job);
  const open = (): Promise<JobContext> =>
    Promise.resolve({ ralph, backlog: backlog as Backlog, [Symbol.asyncDispose]: () => Promise.resolve() });
  return await workInCheckout(repository, job, { lock: ralph.lock, open, push, worker, signal });
}

/** @throws {RalphError} job-refused */
export async function ensureOwnJob(repository: Repository, job: Job): Promise<void> {
  ensureOfRepository(job, repositoryName(await remoteUrl(repository) ?? ""));
}

/** Makes the attempt where the clone is; `open` is called where the job begins. */
export async function workInCheckout(
  repository: Repository,
  job: Job,
  { lock, open, push = true, worker = machineName(), signal }: WorkJobOptions & {
    readonly lock: RunLock;
    readonly open: () => Promise<JobContext>;
    readonly signal: AbortSignal;
  },
): Promise<JobResult> {
  await using _lock = await lock.acquire("job work");
  const known = push ? await pushedResult(repository, job.attempt.id) : null;
  if (known !== null) return known.result;
  await using _back = await leaveCheckout(repository, job);
  await checkOutJob(repository, job);
  await using context = await open();
  await using tree = await openWorkerTree(context.ralph, context.backlog, 0);
  const slots = createSlots(1);
  const place = { ...context, tree, worker, signal, push, isNew: false };
  return await attemptJob(job, { ...place, alone: (act) => slots.run(act) });
}

/**
 * The checkout is moved for a while: what a person has not committed in it would be lost.
 *
 * @throws {RalphError} job-clone-unfit
 */
async function leaveCheckout(repository: Repository, { base, attempt: { id }, ralph }: Job): Promise<AsyncDisposable> {
  const { head, branch, changed } = await repository.status();
  const isThere = await pushedJob(repository, id, ralph) !== null; // what it begins with is here now
  const wanted = isThere && head !== null ? await inTheWay(repository, { tip: head, commit: base }) ?? [] : [];
  const dirty = new Set([...changed.filter(({ untracked }) => !untracked).map(({ path }) => path), ...wanted]);
  if (dirty.size > 0) {
    const problem = `a job moves its checkout, and these are not committed: ${[...dirty].slice(0, 10).join(", ")}`;
    throw new RalphError("job-clone-unfit", { details: { problem }, hint: "commit or stash them (`git stash -u`)" });
  }
  const file = join(repository.ralphDirectory, "left-checkout");
  const [leftAt, left] = (await readText(file) ?? "").split(" ");
  const to = branch ?? (left !== undefined && leftAt === head ? left : null); // a call that was killed is still to go back
  if (to !== null) await writeOwn(file, `${base} ${to}`);
  const back = to === null ? ["--detach", head ?? "HEAD"] : [to];
  return {
    async [Symbol.asyncDispose]() {
      await outputFrom(repository, ["checkout", "--quiet", "--force", ...back]);
      await removePath(file);
    },
  };
}

/** A call that takes or lands. @param told `null`: jobs are taken; else results are landed, of which these were given */
async function openJobs<Data, Findings>(
  ralph: RalphContext,
  backlog: Backlog<Data, Findings>,
  { workflow = backlog.name }: JobsOptions,
  told: readonly JobResult[] | null,
) {
  const head = await jobHead(ralph, workflow, backlog.scope ?? "");
  const key = await journalKeyOf(backlog);
  const shared = await openSharedRun(ralph, backlog, head.project);
  const byHand = new ByHand({ repository: requireRepository(ralph), head, shared, told });
  await byHand.fetch(ralph.journal.open(key).map(({ attemptId }) => attemptId));
  /** @param lanes attempts that may be out at once */
  const run = async (lanes: number): Promise<LoopOutcome> => {
    const loop = { ...ralph.loop, workers: lanes, elsewhere: () => Promise.resolve(byHand) };
    const outcome = await runLoop({ ...ralph, loop }, backlog, {
      workers: lanes,
      stopWhen: (progress, inFlight) => {
        const sum = together(shared.spent, progress);
        return limitReached(sum, ralph.config.limits, ralph.host.clock.steady(), inFlight) ?? undefined;
      },
    });
    await shareEnd(shared, byHand, outcome);
    return outcome;
  };
  return { key, byHand, run };
}

/** An interruption here has not happened for the other clones: the same call continues in this clone. */
async function shareEnd(shared: SharedRun, byHand: ByHand, outcome: LoopOutcome): Promise<void> {
  if (outcome.status === "aborted") return;
  const isOver = outcome.status === "passed" || (outcome.status === "unverified" && outcome.allowed);
  const taken = Object.fromEntries(byHand.out.map(({ id }) => [id, byHand.timesTaken(id)]));
  const spent = outcome.status === "handed-out" ? spentOf(together(shared.spent, outcome)) : null;
  const memory: RunMemory | null = isOver ? null : { spent, taken };
  const out = new Map(byHand.out.map(({ id, commit }) => [id, commit]));
  await shared.push(memory, { out, settled: byHand.settledIds });
}

/** The use of this call, on top of what the calls before it have used. Pure. */
function together(before: Spent | null, now: Progress): Progress {
  if (before === null) return now;
  const sum = (one: number | null, other: number | null): number | null =>
    one === null || other === null ? one ?? other : one + other;
  const goesOn = (old: number, recent: number): number => recent === now.turns ? old + recent : recent;
  return {
    ...now,
    startedAt: before.startedAt,
    turns: before.turns + now.turns,
    tokens: sum(before.tokens, now.tokens),
    costUsd: sum(before.costUsd, now.costUsd),
    idleTurns: goesOn(before.idleTurns, now.idleTurns),
    stalledTurns: goesOn(before.stalledTurns, now.stalledTurns),
  };
}

function spentOf({ startedAt, turns, tokens, costUsd, idleTurns, stalledTurns }: Progress): Spent {
  return { startedAt, turns, tokens, costUsd, idleTurns, stalledTurns };
}
