import { type Invocation, printed, toJson, usage, type Verb, verbOf } from "../../cli/command.ts";
import { resolveRoot } from "../../cli/workspace.ts";
import { RalphError } from "../../errors/ralph_error.ts";
import { openRepository } from "../../git/open_repository.ts";
import type { Clock } from "../../host/types.ts";
import { ASKS, OPERATOR, queueName, requestKey } from "../../machines/coordinator.ts";
import type { Engine, JobChange, QueuedJob } from "../../machines/engine.ts";
import { attemptIdIn, repositoryName } from "../../machines/job.ts";
import { openEngine } from "../../machines/open_engine.ts";
import { remoteUrl } from "../../machines/remote.ts";
import { WORKER } from "../../machines/worker.ts";
import { formatDuration, oneLine } from "../../ui/text.ts";

/** The queue of one repository, and where its answers go. */
interface Queue {
  readonly engine: Engine;
  readonly repository: string;
  readonly clock: Clock;
  /** Prints data with `--json`, else the text. */
  readonly answer: (data: object, text: string) => number;
}

/** `ralph queue`: who is there, what became of the jobs, and what is to become of them. */
export async function queue(invocation: Invocation): Promise<number> {
  const { flags, host: { clock }, out, arguments: [verb = "status", ...ids] } = invocation;
  const act: Verb<Queue> = verbOf({ status, retry, discard, drain, cancel }, "queue", verb);
  const takesJobs = verb === "retry" || verb === "discard";
  if (takesJobs !== ids.length > 0) {
    throw usage(
      `\`ralph queue ${verb}\` takes ${takesJobs ? "jobs" : "no job"}`,
      "`ralph queue status` shows their ids",
    );
  }
  const url = flags.text("queue");
  if (url === undefined) throw usage("which queue?", "`--queue postgres://user@host/database`, or `RALPH_QUEUE`");
  const repository = await repositoryOf(invocation);
  const engine = await openEngine({ url, queue: queueName(repository), clock });
  const answer = (data: object, text: string): number => printed(out, flags.has("json") ? toJson(data) : text);
  try {
    return await act({ engine, repository, clock, answer }, ids);
  } finally {
    await engine.close();
  }
}

async function status(queue: Queue): Promise<number> {
  const state = await stateOf(queue);
  return queue.answer(state, textOf(state));
}

async function stateOf({ engine, repository }: Queue) {
  const [coordinators, led, jobs] = [await coordinatorsOf(engine), await engine.led(), await engine.jobs()];
  const workers = led.filter((key) => key.startsWith(WORKER)).map((key) => key.slice(WORKER.length));
  return { repository, queue: queueName(repository), workers, coordinators: coordinators.length, jobs };
}

async function coordinatorsOf(engine: Engine): Promise<readonly string[]> {
  return (await engine.led()).filter((key) => !key.startsWith(WORKER) && !key.startsWith(ASKS));
}

/** The jobs that are named. @throws {RalphError} queue-job: the queue has one of them not; nothing was changed */
async function named({ engine }: Queue, given: readonly string[]): Promise<readonly QueuedJob[]> {
  const jobs = new Map((await engine.jobs()).map((job) => [job.attemptId, job]));
  return given.map((id) => jobs.get(attemptIdIn(id) ?? "") ?? refused(id, "is not in the queue of this repository"));
}

function refused(id: string, problem: string, hint?: string): never {
  throw new RalphError("queue-job", { details: { id: oneLine(id), problem }, ...(hint === undefined ? {} : { hint }) });
}

/** Why a job in this state is not handed out again. */
const NOT_RETRIED = {
  waiting: "waits for a worker already",
  active: "is being worked on: `discard` ends its turn",
  done: "is done: the run lands its result",
  cancelled: "was taken back: `ralph run --queue URL` hands its item out",
} as const;

async function retry(queue: Queue, given: readonly string[]): Promise<number> {
  const jobs = await named(queue, given);
  for (const { state, attemptId } of jobs) if (state !== "failed") refused(attemptId, NOT_RETRIED[state]);
  const parked = jobs.filter((job) => job.parked);
  const hint = "the next run has parked items tried again: `ralph run --queue URL --retry-blocked`";
  const [one] = parked;
  if (one !== undefined && (await coordinatorsOf(queue.engine)).length === 0) refused(one.attemptId, "is parked", hint);
  await ask(queue, parked.map(({ attemptId }) => requestKey("retry", attemptId)), hint);
  await alter(queue, "forget", parked);
  await alter(queue, "retry", jobs.filter((job) => !job.parked));
  return answered(queue, jobs, (job) => job.parked ? "the run takes its item up again" : "waits for a worker again");
}

async function discard(queue: Queue, given: readonly string[]): Promise<number> {
  const jobs = await named(queue, given);
  const ended = jobs.find(({ state }) => state === "done" || state === "cancelled");
  if (ended !== undefined) refused(ended.attemptId, ended.state === "done" ? NOT_RETRIED.done : "was taken back");
  await alter(queue, "discard", jobs.filter(({ state }) => state !== "failed"));
  await alter(queue, "forget", jobs.filter((job) => job.parked));
  return answered(queue, jobs, (job) => job.parked ? "left the list" : "is given up, and the run parks its item");
}

/** @throws {RalphError} queue-job: its state has changed meanwhile */
async function alter({ engine }: Queue, change: JobChange, jobs: readonly QueuedJob[]): Promise<void> {
  const ids = jobs.map(({ attemptId }) => attemptId);
  const changed = new Set(await engine.alter(change, ids));
  for (const id of ids) if (!changed.has(id)) refused(id, "has changed meanwhile");
}

async function drain(queue: Queue): Promise<number> {
  const coordinators = await coordinatorsOf(queue.engine);
  if (coordinators.length === 0) {
    throw usage("no run hands out jobs here", "`ralph queue cancel` takes back what is left");
  }
  await ask(queue, coordinators.map((key) => requestKey("drain", key)));
  return queue.answer(
    { coordinators: coordinators.length },
    "nothing more is handed out; what is being worked on lands",
  );
}

async function cancel(queue: Queue): Promise<number> {
  const { engine } = queue;
  const isOut = ({ state }: QueuedJob): boolean => state === "waiting" || state === "active";
  const jobs = (await engine.jobs()).filter(isOut);
  await ask(queue, (await coordinatorsOf(engine)).map((key) => requestKey("cancel", key)));
  await engine.cancel((await engine.jobs()).filter(isOut).map(({ attemptId }) => attemptId));
  if (jobs.length === 0) return queue.answer({ jobs: [] }, "no job was out");
  return answered(queue, jobs, () => "is taken back");
}

function answered({ answer }: Queue, jobs: readonly QueuedJob[], words: (job: QueuedJob) => string): number {
  const lines = jobs.map((job) => oneLine(`${job.attemptId} ${job.itemId} ${words(job)}`));
  return answer({ jobs: jobs.map(({ attemptId, itemId }) => ({ attemptId, itemId })) }, lines.join("\n"));
}

/** Coordinators hear within ten seconds. @throws {RalphError} queue-unheard */
async function ask({ engine, clock }: Queue, keys: readonly string[], hint?: string): Promise<void> {
  for (const key of keys) await engine.lead(key, OPERATOR);
  const end = clock.steady() + HEARD_MS;
  for (let left = keys; left.length > 0;) {
    await clock.sleep(500);
    const led = await engine.led();
    left = left.filter((key) => led.includes(key));
    if (left.length === 0 || clock.steady() < end) continue;
    for (const key of left) await engine.resign(key, OPERATOR);
    const asked = left.map((key) => key.slice(ASKS.length)).join(", ");
    throw new RalphError("queue-unheard", { details: { asked }, ...(hint === undefined ? {} : { hint }) });
  }
}

/** Before a request, which lasts for 30 s, ends by itself. */
const HEARD_MS = 25_000;

async function repositoryOf(invocation: Invocation): Promise<string> {
  const named = invocation.flags.text("repository");
  if (named !== undefined) return repositoryName(named);
  const here = await openRepository(invocation.host, await resolveRoot(invocation));
  const url = here === null ? null : await remoteUrl(here);
  if (url === null) throw usage("which repository? there is no remote `origin` here", "name it: `--repository URL`");
  return repositoryName(url);
}

function textOf({ repository, queue, workers, coordinators, jobs }: Awaited<ReturnType<typeof stateOf>>): string {
  const count = (state: QueuedJob["state"]): number => jobs.filter((job) => job.state === state).length;
  const taken = count("cancelled") === 0 ? [] : ["cancelled" as const];
  const counts = (["waiting", "active", "done", "failed", ...taken] as const).map((state) =>
    `${count(state)} ${state}`
  );
  const shown = jobs.filter(({ state }) => state !== "done" && state !== "cancelled");
  return [
    `${repository}  queue ${queue}`,
    `  coordinator  ${coordinators === 0 ? "none" : "at work"}`,
    `  workers      ${workers.length === 0 ? "none" : workers.map(oneLine).join(", ")}`,
    `  jobs         ${counts.join(", ")}`,
    ...shown.map((job) => `  ${jobLine(job)}`),
  ].join("\n");
}

function jobLine({ itemId, attemptId, state, ageMs, silentMs, retries, message, parked }: QueuedJob): string {
  const facts = [
    state,
    ...(parked ? ["parked"] : []),
    `${formatDuration(ageMs)} old`,
    ...(silentMs === null ? [] : [`heard of ${formatDuration(silentMs)} ago`]),
    ...(retries === 0 ? [] : [`handed out ${retries + 1} times`]),
    ...(message === null ? [] : [message]),
  ];
  return oneLine(`${itemId} (${attemptId})  ${facts.join(", ")}`);
}
