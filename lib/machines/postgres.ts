import { type JobWithMetadata, PgBoss } from "pg-boss";
import { at, textAt } from "../agents/json.ts";
import { RalphError } from "../errors/ralph_error.ts";
import { jsonIn, objectOr } from "../host/data.ts";
import { hashText } from "../host/files.ts";
import type { Clock } from "../host/types.ts";
import { whenAborted } from "../host/when_aborted.ts";
import type { Engine, EngineOptions, JobChange, JobEnd, QueuedJob, WorkOptions } from "./engine.ts";
import { type Job, parseResult } from "./job.ts";

const SCHEMA = "ralph";
/** A worker that is not heard of for so long has lost its jobs, a coordinator its lead. */
const LEASE_SECONDS = 30;
const HEARTBEAT_SECONDS = 8;
/** News is this late if the database sends no notice (a pooler in between). */
const FLOOR_MS = 5_000;
/** A database that is gone for longer has handed the job out again. */
const PATIENCE_MS = 60_000;
const RETRIES = 5;
/** No turn takes that long: limits end it before. */
const LONGEST_SECONDS = 23 * 60 * 60;
const CHANNEL = "ralph_job_ended";
const EVENTS = "ralph_job_events";
/** A notice holds no more than 8,000 bytes. */
const NOTICE_BYTES = 7_500;
/** A job that is given back does not count as a try. */
const ONE_MORE = `UPDATE ${SCHEMA}.job SET retry_limit = retry_limit + 1 WHERE name = $1 AND id = $2`;

/** Jobs come by notice; one that is handed out again sends no notice and is asked for. */
const FETCH = {
  includeMetadata: true,
  perJobResults: true,
  pollingIntervalSeconds: 2,
  notifyPollingIntervalSeconds: 5,
  heartbeatRefreshSeconds: HEARTBEAT_SECONDS,
} as const;

/** Two that make a table at the same moment collide, unless one waits. */
const COORDINATORS = `BEGIN; SELECT pg_advisory_xact_lock(hashtext('${SCHEMA}.coordinator'));
  CREATE TABLE IF NOT EXISTS ${SCHEMA}.coordinator (queue text NOT NULL, key text NOT NULL, holder text NOT NULL,
    until timestamptz NOT NULL, PRIMARY KEY (queue, key)); COMMIT`;
/** Takes or keeps the lead by the database's clock: that of no other machine matters. */
const LEAD = `INSERT INTO ${SCHEMA}.coordinator AS c (queue, key, holder, until)
  VALUES ($1, $2, $3, now() + interval '${LEASE_SECONDS} seconds')
  ON CONFLICT (queue, key) DO UPDATE SET holder = excluded.holder, until = excluded.until
  WHERE c.holder = excluded.holder OR c.until < now() RETURNING holder`;
const LED = `SELECT key FROM ${SCHEMA}.coordinator WHERE queue = $1 AND until > now() ORDER BY key`;
const RESIGN = `DELETE FROM ${SCHEMA}.coordinator WHERE queue = $1 AND key = $2 AND holder = $3`;

/** Reads for `endOf()`: not the job itself, whose text is long. */
const ENDS = `SELECT id, state, output FROM ${SCHEMA}.job WHERE name = $1 AND id = ANY($2::uuid[])`;

/** pg-boss's own `retry` knows nothing of items that are settled, and gives one more try. */
const CHANGES: Readonly<Record<JobChange, string>> = {
  retry: `UPDATE ${SCHEMA}.job SET state = 'retry', completed_on = NULL, start_after = now(),
    retry_limit = retry_count + ${RETRIES} WHERE state = 'failed' AND output -> 'parked' IS NULL`,
  discard: `UPDATE ${SCHEMA}.job SET state = 'failed', completed_on = now(),
    output = '{"message": "it was discarded"}' WHERE state < 'completed'`,
  withdraw: `UPDATE ${SCHEMA}.job SET state = 'cancelled', completed_on = now() WHERE state < 'active'`,
  park: `UPDATE ${SCHEMA}.job SET output = coalesce(output, '{}') || '{"parked": true}' WHERE state = 'failed'`,
  forget: `DELETE FROM ${SCHEMA}.job WHERE state = 'failed' AND output -> 'parked' IS NOT NULL`,
};

type EndedJob = Pick<JobWithMetadata, "state" | "output">;

/**
 * Jobs in PostgreSQL, by pg-boss in a schema of its own (`ralph`): leases with heartbeats, retries, dead letters. A new job
 * and a result wake the process that waits by LISTEN/NOTIFY.
 *
 * @throws {RalphError} queue-unreachable
 */
export async function openPostgres({ url, queue, clock }: EngineOptions): Promise<Engine> {
  const boss = new PgBoss({
    connectionString: url,
    schema: SCHEMA,
    application_name: "ralph",
    max: 4,
    useListenNotify: true,
    superviseIntervalSeconds: 5,
    monitorIntervalSeconds: 5,
    warningSlowQuerySeconds: 60,
  });
  boss.on("error", () => {}); // a lost connection is opened again, and what asks for something is told
  try {
    await boss.start();
    await createQueues(boss, queue);
  } catch (cause) {
    await boss.stop({ graceful: false }).catch(() => {});
    throw queueError(cause, url);
  }
  const engine = new PostgresEngine(boss, queue, clock);
  await engine.listen();
  return withNamedErrors(engine, url);
}

async function createQueues(boss: PgBoss, queue: string): Promise<void> {
  const deadLetter = `${queue}.dead`;
  await boss.createQueue(deadLetter, { retentionSeconds: 30 * 24 * 60 * 60 });
  await boss.createQueue(queue, {
    notify: true,
    deadLetter,
    retryLimit: RETRIES,
    retryDelay: 1,
    heartbeatSeconds: LEASE_SECONDS,
    expireInSeconds: LONGEST_SECONDS,
    deleteAfterSeconds: 7 * 24 * 60 * 60,
  });
  await boss.getDb().executeSql(COORDINATORS);
}

class PostgresEngine implements Engine {
  readonly #boss: PgBoss;
  readonly #queue: string;
  readonly #clock: Clock;
  readonly #waiting = new Set<() => void>();
  #listening: { close(): Promise<void> } | null = null;
  #hearing: { close(): Promise<void> } | null = null;

  constructor(boss: PgBoss, queue: string, clock: Clock) {
    this.#boss = boss;
    this.#queue = queue;
    this.#clock = clock;
  }

  async listen(): Promise<void> {
    const wake = (): void => {
      for (const one of this.#waiting) one();
    };
    const told = (name: string): void => {
      if (name === this.#queue) wake();
    };
    // without it, what waits looks for itself
    this.#listening = await this.#boss.getDb().listen?.(CHANNEL, told, wake).catch(() => null) ?? null;
  }

  async submit(id: string, job: Job): Promise<void> {
    const made = await this.#boss.send(this.#queue, job, { id: uuidOf(id) });
    if (made === null) await this.#boss.resume(this.#queue, uuidOf(id));
  }

  async ended(ids: readonly string[]): Promise<ReadonlyMap<string, JobEnd>> {
    const { rows } = await this.#boss.getDb().executeSql(ENDS, [this.#queue, ids.map(uuidOf)]);
    const found = new Map((rows as readonly (EndedJob & { readonly id: string })[]).map((row) => [row.id, row]));
    const ends = ids.map((id) => [id, endOf(found.get(uuidOf(id)))] as const);
    return new Map(ends.flatMap(([id, end]) => end === null ? [] : [[id, end] as const]));
  }

  async change(signal: AbortSignal): Promise<void> {
    const woken = new AbortController();
    const wake = (): void => woken.abort();
    this.#waiting.add(wake);
    await this.#clock.sleep(FLOOR_MS, AbortSignal.any([signal, woken.signal]));
    this.#waiting.delete(wake);
  }

  async cancel(ids: readonly string[]): Promise<void> {
    if (ids.length > 0) await this.#boss.cancel(this.#queue, ids.map(uuidOf));
  }

  async alter(change: JobChange, ids: readonly string[]): Promise<readonly string[]> {
    const sql = `${CHANGES[change]} AND name = $1 AND id = ANY($2::uuid[]) RETURNING id`;
    const { rows } = await this.#boss.getDb().executeSql(sql, [this.#queue, ids.map(uuidOf)]);
    const changed = new Set((rows as readonly { readonly id: string }[]).map((row) => row.id));
    return ids.filter((id) => changed.has(uuidOf(id)));
  }

  async lead(key: string, holder: string): Promise<boolean> {
    const { rows } = await this.#boss.getDb().executeSql(LEAD, [this.#queue, key, holder]);
    return rows.length > 0;
  }

  async resign(key: string, holder: string): Promise<void> {
    await this.#boss.getDb().executeSql(RESIGN, [this.#queue, key, holder]);
  }

  async led(): Promise<readonly string[]> {
    const { rows } = await this.#boss.getDb().executeSql(LED, [this.#queue]);
    return (rows as readonly { readonly key: string }[]).map(({ key }) => key);
  }

  async report(id: string, events: readonly object[]): Promise<void> {
    for (const event of events) {
      const notice = JSON.stringify({ queue: this.#queue, id, event });
      if (Buffer.byteLength(notice) > NOTICE_BYTES) continue; // a long text is in the worker's own record
      await this.#boss.getDb().executeSql("SELECT pg_notify($1, $2)", [EVENTS, notice]);
    }
  }

  async hear(heard: (id: string, event: unknown) => void): Promise<void> {
    const read = (notice: string): void => {
      const { queue, id, event } = objectOr(jsonIn(notice));
      if (queue === this.#queue && typeof id === "string") heard(id, event); // else another program wrote it
    };
    this.#hearing = await this.#boss.getDb().listen?.(EVENTS, read, () => {}).catch(() => null) ?? null;
  }

  async work(options: WorkOptions): Promise<void> {
    const { lanes, once, signal } = options;
    const busy = new Set<Promise<unknown>>();
    const served = new AbortController();
    const open = async (lane: number): Promise<void> => {
      const id = await this.#boss.work<object, object, typeof FETCH>(this.#queue, FETCH, async ([job]) => {
        if (job === undefined) return [];
        const handled = this.#handle(job, lane, options);
        busy.add(handled);
        const { until, ...ended } = await handled;
        busy.delete(handled);
        if (once) served.abort();
        else if (until === null) this.#boss.notifyWorker(id); // asks for the next job at once
        else void rest(id, until, lane);
        return [{ id: job.id, ...ended }];
      });
    };
    const rest = async (id: string, until: number, lane: number): Promise<void> => {
      await this.#boss.offWork(this.#queue, { id, wait: false }).catch(() => {}); // its lane is opened anew in any case
      for (let pause = until - this.#clock.now(); !signal.aborted; pause = FLOOR_MS) {
        await this.#clock.sleep(Math.max(0, pause), signal);
        if (!signal.aborted && await open(lane).then(() => true, () => false)) return; // a database that is away comes back
      }
    };
    for (let lane = 0; lane < lanes; lane++) await open(lane);
    await whenAborted(AbortSignal.any([signal, served.signal]));
    await this.#boss.offWork(this.#queue, { wait: once }); // so that how its one job ended is written
    await Promise.allSettled(busy);
  }

  async jobs(): Promise<readonly QueuedJob[]> {
    const found = await this.#boss.findJobs<Job>(this.#queue);
    const now = this.#clock.now();
    return found.map((job) => queued(job, now)).toSorted((one, other) => other.ageMs - one.ageMs);
  }

  async close(): Promise<void> {
    await this.#listening?.close().catch(() => {});
    await this.#hearing?.close().catch(() => {});
    await this.#boss.stop({ graceful: false });
  }

  async #handle(job: JobWithMetadata, lane: number, { worker, signal, handle }: WorkOptions) {
    const lost = new AbortController();
    using _lease = this.#clock.every(HEARTBEAT_SECONDS * 1_000, () => void this.#watchLease(job, lost));
    try {
      const result = await handle(job.data, {
        lane,
        signal: AbortSignal.any([lost.signal, job.signal, signal]),
        isNew: job.retryCount === 0,
      });
      await this.#patiently(async () => {
        await this.#boss.complete(this.#queue, job.id, { result }); // by hand, so that the notice comes after it
        await this.#boss.getDb().executeSql("SELECT pg_notify($1, $2)", [CHANNEL, this.#queue]);
      });
      return { status: "completed", output: { result }, until: null } as const;
    } catch (error) {
      const message = `${worker}: ${error instanceof Error ? error.message : String(error)}`;
      const code = RalphError.isInstance(error) ? error.code : null;
      const until = code === "job-given-back" ? Number((error as RalphError).details["until"]) : null;
      if (until !== null) await this.#boss.getDb().executeSql(ONE_MORE, [this.#queue, job.id]).catch(() => {}); // counts then
      return { status: code === "job-refused" ? "deadletter" : "failed", output: { message }, until } as const;
    }
  }

  /** Aborts when the job is no longer this worker's: cancelled, or handed to another one. */
  async #watchLease(job: JobWithMetadata, lost: AbortController): Promise<void> {
    try {
      const [now] = await this.#boss.findJobs(this.#queue, { id: job.id });
      const mine = now?.state === "active" && now.retryCount === job.retryCount;
      if (!mine) lost.abort(new Error("the job was given to another worker, or withdrawn"));
    } catch {
      // a database that does not answer says nothing about the lease: asked again
    }
  }

  /** A turn is paid for: a database that restarts is waited for. Doing it twice is no matter. */
  async #patiently(act: () => Promise<void>): Promise<void> {
    const end = this.#clock.steady() + PATIENCE_MS;
    for (;;) {
      try {
        return await act();
      } catch (error) {
        if (this.#clock.steady() > end) throw error;
        await this.#clock.sleep(1_000);
      }
    }
  }
}

function endOf(job: EndedJob | undefined): JobEnd | null {
  if (job === undefined) return { status: "failed", message: "the queue does not know the job any more" };
  if (job.state === "completed") return done(at(job.output, "result"));
  if (job.state === "cancelled") return { status: "cancelled" };
  if (job.state !== "failed") return null;
  return { status: "failed", message: textAt(job.output, "message") ?? "no worker has ended it" };
}

/** Data from the database is not trusted: any writer may have put it there. */
function done(written: unknown): JobEnd {
  try {
    return { status: "done", result: parseResult(written) };
  } catch (error) {
    if (RalphError.isInstance(error)) return { status: "failed", message: error.message };
    throw error;
  }
}

const UNKNOWN = "(unknown)";
const STATES = {
  created: "waiting",
  retry: "waiting",
  active: "active",
  completed: "done",
  cancelled: "cancelled",
  failed: "failed",
} as const;

function queued(job: JobWithMetadata<Job>, now: number): QueuedJob {
  return {
    attemptId: textAt(job.data, "attempt", "id") ?? UNKNOWN,
    itemId: textAt(job.data, "item", "id") ?? UNKNOWN,
    repository: textAt(job.data, "repository") ?? UNKNOWN,
    state: STATES[job.state],
    worker: textAt(job.output, "result", "worker"),
    message: job.state === "failed" ? textAt(job.output, "message") : null,
    parked: job.state === "failed" && at(job.output, "parked") === true,
    retries: job.retryCount,
    ageMs: now - job.createdOn.getTime(),
    silentMs: job.state === "active" ? now - (job.heartbeatOn ?? job.startedOn).getTime() : null,
  };
}

/** pg-boss names jobs by UUIDs; the same attempt has the same one. */
function uuidOf(id: string): string {
  return hashText(id).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, "$1-$2-$3-$4-$5");
}

/** Whatever comes out of a database, as the one error that a queue has. */
function queueError(cause: unknown, url: string): RalphError {
  if (RalphError.isInstance(cause)) return cause;
  const reasons = cause instanceof AggregateError ? cause.errors : [cause];
  const words = reasons.map((one) => one instanceof Error ? one.message : String(one)).join("; ");
  const reason = `${addressOf(url)}: ${words}`;
  return new RalphError("queue-unreachable", { details: { reason }, cause });
}

/** The address without its password, and without parameters, which may hold one. */
function addressOf(url: string): string {
  if (!URL.canParse(url)) return "an address that cannot be read";
  const { protocol, username, host, pathname } = new URL(url);
  return `${protocol}//${username}${username === "" ? "" : "@"}${host}${pathname}`;
}

/** The same engine; each of its failures has a name. */
function withNamedErrors(engine: Engine, url: string): Engine {
  return new Proxy(engine, {
    get(target, name) {
      const act: unknown = Reflect.get(target, name);
      return typeof act !== "function" ? act : async (...given: readonly unknown[]): Promise<unknown> => {
        try {
          return await (Reflect.apply(act, target, given) as unknown);
        } catch (cause) {
          throw queueError(cause, url);
        }
      };
    },
  });
}
