import type { Invocation } from "../../cli/command.ts";
import { usage } from "../../cli/parse.ts";
import { resolveRoot } from "../../cli/root.ts";
import { toJson } from "../../cli/show.ts";
import { openRepository } from "../../git/open_repository.ts";
import { queueName } from "../../machines/coordinator.ts";
import type { QueuedJob } from "../../machines/engine.ts";
import { repositoryName } from "../../machines/job.ts";
import { openEngine } from "../../machines/open_engine.ts";
import { remoteUrl } from "../../machines/remote.ts";
import { WORKER } from "../../machines/worker.ts";
import { formatDuration } from "../../ui/format_duration.ts";
import { oneLine } from "../../ui/printable.ts";

/** `ralph queue status`: who is there, and what became of the jobs. */
export async function run(invocation: Invocation): Promise<number> {
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
    ...shown.map((job) => `  ${lineOf(job)}`),
  ].join("\n");
}

function lineOf({ itemId, attemptId, state, ageMs, silentMs, retries, message }: QueuedJob): string {
  const facts = [
    state,
    `${formatDuration(ageMs)} old`,
    ...(silentMs === null ? [] : [`heard of ${formatDuration(silentMs)} ago`]),
    ...(retries === 0 ? [] : [`handed out ${retries + 1} times`]),
    ...(message === null ? [] : [message]),
  ];
  return oneLine(`${itemId} (${attemptId})  ${facts.join(", ")}`);
}
