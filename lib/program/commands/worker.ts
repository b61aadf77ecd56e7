import { join, resolve } from "node:path";
import { namedAgent } from "../../cli/agent_choice.ts";
import type { Invocation } from "../../cli/command.ts";
import { usage } from "../../cli/parse.ts";
import { openSession } from "../../cli/session.ts";
import { parseWorkers } from "../../cli/settings.ts";
import { VERSION } from "../../host/version.ts";
import { loadConfig } from "../../config/load.ts";
import { RalphError } from "../../errors/ralph_error.ts";
import { machineName } from "../../host/this_process.ts";
import { createRunLock } from "../../loop/run/run_lock.ts";
import { clonePath, openClone } from "../../machines/clone.ts";
import { queueName } from "../../machines/coordinator.ts";
import { type Job, repositoryName } from "../../machines/job.ts";
import { openEngine } from "../../machines/open_engine.ts";
import { type JobContext, serveJobs } from "../../machines/worker.ts";
import { WORKFLOWS } from "../../workflows/table.ts";

/** Seconds that a worker waits for its agent with a job in hand: another one may have an agent that is free. */
const MOST_WAITED = 600;

/** `ralph worker`: takes jobs of one repository until it is ended. */
export async function run(invocation: Invocation): Promise<number> {
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
  const workflow = await WORKFLOWS.find(({ name }) => name === job.workflow)?.load();
  if (workflow?.backlog === undefined) {
    const reason = `this worker knows no jobs of ${job.workflow}`;
    throw new RalphError("job-refused", { details: { id: job.attempt.id, reason } });
  }
  const root = join(clone, job.project);
  const place = { ...await loadConfig(root), root, workflow: { name: job.workflow, why: "the job's" } };
  const title = `workflow ${job.workflow}`;
  const maxWait = Math.min(place.config.limits.maxWait, MOST_WAITED);
  const session = await openSession(invocation, { asks: false, gates: [], data, place, title, maxWait });
  await session.ralph.agent.ensureUsable();
  await session.ralph.host.sandbox?.ensureUsable();
  const backlog = await workflow.backlog(session.ralph, job.scope);
  return { ralph: session.ralph, backlog, [Symbol.asyncDispose]: () => session[Symbol.asyncDispose]() };
}
