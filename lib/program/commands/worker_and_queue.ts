import { join, resolve } from "node:path";
import { namedAgent } from "../../cli/agent_choice.ts";
import type { Invocation } from "../../cli/command.ts";
import { usage } from "../../cli/parse.ts";
import { resolveRoot } from "../../cli/root.ts";
import { openSession } from "../../cli/session.ts";
import { parseWorkers } from "../../cli/settings.ts";
import { toJson } from "../../cli/show.ts";
import { loadConfig } from "../../config/load.ts";
import { RalphError } from "../../errors/ralph_error.ts";
import { openRepository } from "../../git/open_repository.ts";
import { machineName } from "../../host/this_process.ts";
import { VERSION } from "../../host/version.ts";
import { createRunLock } from "../../loop/run/run_lock.ts";
import { clonePath, openClone } from "../../machines/clone.ts";
import { queueName } from "../../machines/coordinator.ts";
import type { QueuedJob } from "../../machines/engine.ts";
import { type Job, repositoryName } from "../../machines/job.ts";
import { openEngine } from "../../machines/open_engine.ts";
import { remoteUrl } from "../../machines/remote.ts";
import { type JobContext, serveJobs, WORKER } from "../../machines/worker.ts";
import { formatDuration, oneLine } from "../../ui/printable.ts";
import { WORKFLOWS } from "../../workflows/table.ts";

/** Seconds that a worker waits for its agent with a job in hand: another one may have an agent that is free. */
const MOST_WAITED = 600;

/** `ralph worker`: takes jobs of one repository until it is ended. */
export async function worker(invocation: Invocation): Promise<number> {
  const { flags, host, say, signal } = invocation;
  const [url, remote] = [flags.text("queue"), flags.text("repository")];
  if (url === undefined) throw usage("a worker needs a queue", "`--queue postgres://user@host/database`");
  if (remote === undefined) throw usage("a worker takes jobs of one repository", "name it: `--repository URL`");
  ensureOwnAgent(invocation);
  const lanes = parseWorkers(flags.text("parallel")) ?? 1;
  const repository = repositoryName(remote);
  const directory = flags.text("directory");
  const path = directory === undefined ? await clonePath(host, repository) : resolve(host.environment.cwd, directory);
  const clone = await openClone(host, remote, path);
  const lock = createRunLock({ host, repository: clone, root: path });
  await using _held = await lock.acquire("worker");
  await clone.ensureReady();
  const patience = { signal, report: say };
  const engine = await openEngine({ url, queue: queueName(repository), clock: host.clock, patience });
  const name = flags.text("name") ?? `${machineName()}-${host.ids.random(4)}`; // several on one machine, or started anew
  say(`worker ${name} of ${repository}, ${lanes === 1 ? "one job" : `${lanes} jobs`} at once, in ${path}`);
  try {
    await serveJobs({
      engine,
      clone,
      repository,
      name,
      version: VERSION,
      lanes,
      open: (job) => openJob(invocation, path, job),
      report: say,
      clock: host.clock,
      ids: host.ids,
      signal,
    });
  } finally {
    await engine.close();
  }
  return 0;
}

/** @throws {RalphError} usage where the flags name no agent */
export function ensureOwnAgent({ flags }: Invocation): void {
  if (namedAgent(flags) === null) {
    throw usage("a worker's agent is its own, not the repository's", "name it: `--agent NAME`");
  }
}

/** A job's project in the clone, with the configuration as it is there. @throws {RalphError} job-refused, and what is wrong with this machine */
export async function openJob(invocation: Invocation, clone: string, job: Job, data = false): Promise<JobContext> {
  const workflow = WORKFLOWS.find(({ name }) => name === job.workflow)?.workflow;
  if (workflow?.backlog === undefined) {
    const reason = `this worker knows no jobs of ${job.workflow}`;
    throw new RalphError("job-refused", { details: { id: job.attempt.id, reason } });
  }
  const root = join(clone, job.project);
  const place = { ...await loadConfig(root), root, workflow: { name: job.workflow, why: "the job's" } };
  const title = `workflow ${job.workflow}`;
  const maxWait = Math.min(place.config.limits.maxWait, MOST_WAITED);
  const session = await openSession(invocation, {
    asks: false,
    gates: [],
    data,
    place,
    title,
    settings: { limits: { maxWait } },
  });
  await session.ralph.agent.ensureUsable();
  await session.ralph.host.sandbox?.ensureUsable();
  const backlog = await workflow.backlog(session.ralph, job.scope);
  return { ralph: session.ralph, backlog, [Symbol.asyncDispose]: () => session[Symbol.asyncDispose]() };
}

/** `ralph queue status`: who is there, and what became of the jobs. */
export async function queueStatus(invocation: Invocation): Promise<number> {
  const { flags, host, out, arguments: [what = "status"] } = invocation;
  if (what !== "status") throw usage(`\`ralph queue\` knows no ${what}`, "`ralph queue status`");
  const url = flags.text("queue");
  if (url === undefined) throw usage("which queue?", "`--queue postgres://user@host/database`, or `RALPH_QUEUE`");
  const repository = await repositoryOf(invocation);
  const queue = queueName(repository);
  const engine = await openEngine({ url, queue, clock: host.clock });
  try {
    const [led, jobs] = [await engine.led(), await engine.jobs()];
    const workers = led.filter((key) => key.startsWith(WORKER)).map((key) => key.slice(WORKER.length));
    const coordinators = led.length - workers.length;
    if (flags.has("json")) out(toJson({ repository, queue, workers, coordinators, jobs }));
    else out(textOf({ repository, queue, workers, coordinators, jobs }));
  } finally {
    await engine.close();
  }
  return 0;
}

async function repositoryOf(invocation: Invocation): Promise<string> {
  const named = invocation.flags.text("repository");
  if (named !== undefined) return repositoryName(named);
  const here = await openRepository(invocation.host, await resolveRoot(invocation));
  const url = here === null ? null : await remoteUrl(here);
  if (url === null) throw usage("which repository? there is no remote `origin` here", "name it: `--repository URL`");
  return repositoryName(url);
}

interface QueueState {
  readonly repository: string;
  readonly queue: string;
  readonly workers: readonly string[];
  readonly coordinators: number;
  readonly jobs: readonly QueuedJob[];
}

function textOf({ repository, queue, workers, coordinators, jobs }: QueueState): string {
  const count = (state: QueuedJob["state"]): number => jobs.filter((job) => job.state === state).length;
  const counts = (["waiting", "active", "done", "failed"] as const).map((state) => `${count(state)} ${state}`);
  const shown = jobs.filter(({ state }) => state !== "done");
  return [
    `${repository}  queue ${queue}`,
    `  coordinator  ${coordinators === 0 ? "none" : "at work"}`,
    `  workers      ${workers.length === 0 ? "none" : workers.map(oneLine).join(", ")}`,
    `  jobs         ${counts.join(", ")}`,
    ...shown.map((job) => `  ${jobLine(job)}`),
  ].join("\n");
}

function jobLine({ itemId, attemptId, state, ageMs, silentMs, retries, message }: QueuedJob): string {
  const facts = [
    state,
    `${formatDuration(ageMs)} old`,
    ...(silentMs === null ? [] : [`heard of ${formatDuration(silentMs)} ago`]),
    ...(retries === 0 ? [] : [`handed out ${retries + 1} times`]),
    ...(message === null ? [] : [message]),
  ];
  return oneLine(`${itemId} (${attemptId})  ${facts.join(", ")}`);
}
