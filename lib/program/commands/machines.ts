import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { namedAgent } from "../../cli/agents.ts";
import { type Invocation, toJson, usage, verbOf } from "../../cli/command.ts";
import { endWith } from "../../cli/end_with.ts";
import { openSession } from "../../cli/session.ts";
import { optional, parseCount, parseWorkers } from "../../cli/settings.ts";
import { findPlace, type Place, resolveRoot } from "../../cli/workspace.ts";
import { loadConfig } from "../../config/load.ts";
import type { RalphContext } from "../../context/context.ts";
import { EXIT, parallelImpossible, RalphError } from "../../errors/ralph_error.ts";
import { openRepository } from "../../git/open_repository.ts";
import { type Repository, requireRepository } from "../../git/repository.ts";
import { readText } from "../../host/files.ts";
import { machineName } from "../../host/this_process.ts";
import { VERSION } from "../../host/version.ts";
import type { LoopOutcome } from "../../loop/run/outcome.ts";
import { createRunLock } from "../../loop/run/run_lock.ts";
import { queueName } from "../../machines/coordinator.ts";
import * as jobs from "../../machines/job.ts";
import { ensureOwnJob, landResult, takeJobs, workInCheckout } from "../../machines/jobs.ts";
import { openEngine } from "../../machines/open_engine.ts";
import { pushedJob, pushedResult } from "../../machines/remote.ts";
import { clonePath, type JobContext, openClone, serveJobs } from "../../machines/worker.ts";
import { oneLine } from "../../ui/text.ts";
import { workflowRow, WORKFLOWS } from "../../workflows/table.ts";

export { queue } from "./queue.ts";

/** `ralph job take|work|land`. */
export async function job(invocation: Invocation): Promise<number> {
  const { arguments: [verb = "", ...rest], flags } = invocation;
  for (const [flag, of] of [["max", "take"], ["no-push", "work"]] as const) {
    if (flags.has(flag) && verb !== of) throw usage(`--${flag} is for \`ralph job ${of}\``, `leave it out`);
  }
  return await verbOf({ take, work, land }, "job", verb)(invocation, rest);
}

async function take(invocation: Invocation, surplus: readonly string[]): Promise<number> {
  const { flags, out } = invocation;
  if (surplus.length > 0) throw usage("`ralph job take` takes no argument", "`--max N`, `--scope NAME`");
  const max = flags.text("max");
  await using opened = await openBacklog(invocation);
  const { ralph, backlog, place } = opened;
  const { jobs, outcome } = await takeJobs(ralph, backlog, {
    workflow: place.workflow.name,
    ...optional("max", max === undefined ? undefined : parseCount("--max", max, 1)),
  });
  const done = outcome.status !== "handed-out";
  if (flags.has("json")) out(toJson({ jobs, done, status: outcome.status }));
  else for (const { attempt, item } of jobs) out(oneLine(`${attempt.id}  ${item.id} ${item.title}`));
  return ended(invocation, ralph, outcome);
}

async function land(invocation: Invocation, given: readonly string[]): Promise<number> {
  const { flags, out } = invocation;
  await using opened = await openBacklog(invocation);
  const { ralph, backlog, place } = opened;
  const results: jobs.JobResult[] = [];
  for (const one of given) results.push(await resultOf(invocation, ralph, one));
  const { landed, out: left, outcome } = await landResult(ralph, backlog, given.length === 0 ? null : results, {
    workflow: place.workflow.name,
  });
  const done = outcome.status !== "handed-out";
  if (flags.has("json")) out(toJson({ landed, out: left, done, status: outcome.status }));
  else for (const { attempt, item, status } of landed) out(oneLine(`${attempt}  ${item} ${status}`));
  return ended(invocation, ralph, outcome);
}

/** More is to do: that is no failure. */
function ended(invocation: Invocation, ralph: RalphContext, outcome: LoopOutcome): number {
  if (outcome.status === "handed-out") return EXIT.done;
  return endWith(invocation, ralph, outcome, "ralph job take");
}

async function openBacklog(invocation: Invocation): Promise<JobContext & { readonly place: Place }> {
  const place = await findPlace(invocation);
  const row = workflowRow(place.workflow.name);
  const scope = invocation.flags.text("scope");
  if (scope !== undefined && row.scope === undefined) {
    throw usage(`--scope: the workflow ${row.name} has one list of items`, "leave it out");
  }
  const { workflow } = row;
  if (workflow.backlog === undefined) {
    const problem = `items of the workflow ${row.name} follow each other`;
    throw parallelImpossible(problem, "`ralph run` works on them here");
  }
  const session = await openSession(invocation, { asks: false, gates: [], data: true, place });
  try {
    const backlog = await workflow.backlog(session.ralph, scope ?? "");
    return { ralph: session.ralph, backlog, place, [Symbol.asyncDispose]: () => session[Symbol.asyncDispose]() };
  } catch (error) {
    await session[Symbol.asyncDispose]();
    throw error;
  }
}

async function work(invocation: Invocation, [which, ...others]: readonly string[]): Promise<number> {
  const { flags, host, out, signal } = invocation;
  if (which === undefined || others.length > 0) {
    throw usage("`ralph job work` needs one job", "its id, a file with its JSON, or - for standard input");
  }
  ensureOwnAgent(invocation);
  const here = await resolveRoot(invocation);
  const repository = requireRepository({ repository: await openRepository(host, here), root: here });
  const job = await jobOf(invocation, repository, which);
  await ensureOwnJob(repository, job);
  const root = join(repository.topLevel, job.project);
  const result = await workInCheckout(repository, job, {
    lock: createRunLock({ host, repository, root }),
    open: () => openJob(invocation, repository.topLevel, job, true),
    push: !flags.has("no-push"),
    signal,
  });
  const { attempt } = result;
  if (flags.has("json")) out(toJson(result));
  else out(oneLine(`${attempt.id}  ${job.item.id} ${attempt.status}`));
  if (attempt.status === "agent-unusable") throw new RalphError("job-agent", { details: { problem: attempt.message } });
  return attempt.status === "interrupted" ? EXIT.failed : EXIT.done;
}

/** A job by its id, as the remote has it; or its JSON. */
async function jobOf(invocation: Invocation, repository: Repository, which: string): Promise<jobs.Job> {
  const id = jobs.attemptIdIn(which);
  if (id === null) return jobs.parseJob(onlyJob(await dataFrom(invocation, which, "job"), which), VERSION);
  const pushed = await pushedJob(repository, id, VERSION);
  if (pushed !== null) return pushed.job;
  const reason = `the remote has no ${jobs.jobRef(id)}: it is settled, or was never handed out`;
  throw new RalphError("job-refused", { details: { id, reason } });
}

/** The output of `job take --json` is taken as it is, if it holds one job. */
function onlyJob(data: unknown, which: string): unknown {
  const jobs: unknown = data !== null && typeof data === "object" && "jobs" in data ? data.jobs : undefined;
  if (!Array.isArray(jobs)) return data;
  if (jobs.length === 1) return jobs[0] as unknown;
  throw usage(
    `${which} holds ${jobs.length} jobs, and one is worked on`,
    `\`jq .jobs[0] ${which} | ralph job work -\``,
  );
}

async function resultOf(invocation: Invocation, { repository }: RalphContext, which: string): Promise<jobs.JobResult> {
  const id = jobs.attemptIdIn(which);
  if (id === null) return jobs.parseResult(await dataFrom(invocation, which, "result"));
  const pushed = await pushedResult(requireRepository({ repository, root: "" }), id);
  if (pushed === null) throw new RalphError("job-not-out", { details: { id } });
  return pushed.result;
}

/** JSON of a file, or of standard input for `-`. @throws {RalphError} file-unreadable, job-invalid */
async function dataFrom({ host }: Invocation, which: string, what: string): Promise<unknown> {
  const path = resolve(host.environment.cwd, which);
  const written = which === "-" ? await text(host.terminal.stdin) : await readText(path);
  if (written === null) throw usage(`there is no ${what} ${which}`, "an id, a file, or - for standard input");
  try {
    return JSON.parse(written) as unknown;
  } catch (cause) {
    const problem = `${which === "-" ? "standard input" : which} is not JSON: ${(cause as Error).message}`;
    throw new RalphError("job-invalid", { details: { what, problem }, cause });
  }
}

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
  const once = flags.has("once");
  if (once && lanes > 1) throw usage("--once is one job", "leave `--parallel` out");
  const repository = jobs.repositoryName(remote);
  const directory = flags.text("directory");
  const path = directory === undefined ? await clonePath(host, repository) : resolve(host.environment.cwd, directory);
  const clone = await openClone(host, remote, path);
  const lock = createRunLock({ host, repository: clone, root: path });
  await using _held = await lock.acquire("worker");
  await clone.ensureReady();
  const patience = { signal, report: say };
  const engine = await openEngine({ url, queue: queueName(repository), clock: host.clock, patience });
  const name = flags.text("name") ?? `${machineName()}-${host.ids.random(4)}`; // several on one machine, or started anew
  const many = once ? "one job" : `${lanes === 1 ? "one job" : `${lanes} jobs`} at once`;
  say(`worker ${name} of ${repository}, ${many}, in ${path}`);
  const open = (job: jobs.Job): Promise<JobContext> => openJob(invocation, path, job);
  try {
    const last = await serveJobs({ engine, clone, repository, name, lanes, once, open, report: say, host, signal });
    return !once || last !== null && last.attempt.status !== "interrupted" ? EXIT.done : EXIT.failed;
  } finally {
    await engine.close();
  }
}

/** @throws {RalphError} usage where the flags name no agent */
function ensureOwnAgent({ flags }: Invocation): void {
  if (namedAgent(flags) === null) {
    throw usage("a worker's agent is its own, not the repository's", "name it: `--agent NAME`");
  }
}

/** A job's project in the clone, with the configuration as it is there. @throws {RalphError} job-refused, and what is wrong with this machine */
async function openJob(invocation: Invocation, clone: string, job: jobs.Job, data = false): Promise<JobContext> {
  const workflow = WORKFLOWS.find(({ name }) => name === job.workflow)?.workflow;
  if (workflow?.backlog === undefined) {
    const reason = `this worker knows no jobs of ${job.workflow}`;
    throw new RalphError("job-refused", { details: { id: job.attempt.id, reason } });
  }
  const root = join(clone, job.project);
  const place = { ...await loadConfig(root), root, workflow: { name: job.workflow, why: "the job's" } };
  const title = `workflow ${job.workflow}`;
  const settings = { limits: { maxWait: Math.min(place.config.limits.maxWait, MOST_WAITED) } };
  const session = await openSession(invocation, { asks: false, gates: [], data, place, title, settings });
  await session.ralph.agent.ensureUsable();
  await session.ralph.host.sandbox?.ensureUsable();
  const backlog = await workflow.backlog(session.ralph, job.scope);
  return { ralph: session.ralph, backlog, [Symbol.asyncDispose]: () => session[Symbol.asyncDispose]() };
}
