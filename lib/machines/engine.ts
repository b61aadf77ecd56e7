/**
 * An engine hands jobs to workers elsewhere. It needs to deliver at least once, and to know which worker is alive: that
 * each item is settled exactly once is the coordinator's doing.
 *
 * @module
 */
import type { Clock } from "../host/types.ts";
import type { Job, JobResult } from "./job.ts";

/** The outcome of a job. */
export type JobEnd =
  | { readonly status: "done"; readonly result: JobResult }
  /** Given up after its retries, or refused by a worker. */
  | { readonly status: "failed"; readonly message: string }
  /** Taken back. */
  | { readonly status: "cancelled" };

/**
 * A change of jobs, as far as their state allows it. `retry`: one that was given up, and is not parked, is handed out again.
 * `discard`: one that has not ended is given up. `withdraw`: one that no worker has is taken back. `park`: one that was given
 * up is marked, since its item is settled. `forget`: one that is parked leaves the queue.
 */
export type JobChange = "retry" | "discard" | "withdraw" | "park" | "forget";

/** One job that is queued, being worked on, or has ended. */
export interface QueuedJob {
  readonly attemptId: string;
  readonly itemId: string;
  readonly repository: string;
  readonly state: "waiting" | "active" | "done" | "failed" | "cancelled";
  /** The worker that holds or held it; `null` if none has. */
  readonly worker: string | null;
  /** Why it was given up; `null` where it was not. */
  readonly message: string | null;
  /** It was given up, and a coordinator has parked its item. */
  readonly parked: boolean;
  /** How often it was handed out again. */
  readonly retries: number;
  /** Milliseconds since it was submitted. */
  readonly ageMs: number;
  /** Milliseconds since its worker was last heard of; `null` where none works on it. */
  readonly silentMs: number | null;
}

/** A queue of jobs for one repository. */
export interface Engine {
  /** Submits a job; doing so again with the same id does nothing, unless it was cancelled. */
  submit(id: string, job: Job): Promise<void>;
  /** The outcomes of these jobs, as far as they have ended. */
  ended(ids: readonly string[]): Promise<ReadonlyMap<string, JobEnd>>;
  /** Resolves when some job may have ended, when the signal aborts, or after a while in any case. */
  change(signal: AbortSignal): Promise<void>;
  /** Withdraws the jobs that no worker has, and asks the workers of the others to stop. */
  cancel(ids: readonly string[]): Promise<void>;
  /** @returns the ids of the jobs that were changed */
  alter(change: JobChange, ids: readonly string[]): Promise<readonly string[]>;
  /**
   * Takes or keeps the lead of a backlog, for half a minute: one coordinator settles.
   *
   * @param holder the same for the same clone
   * @returns false where another one has it
   */
  lead(key: string, holder: string): Promise<boolean>;
  resign(key: string, holder: string): Promise<void>;
  /** The keys whose lead somebody has: coordinators, workers, and requests to coordinators. */
  led(): Promise<readonly string[]>;
  /**
   * Works on jobs until the signal aborts, `lanes` at once, and keeps their leases. `job` is as it was read: check it. The
   * handler's signal aborts when a lease is lost.
   */
  work(options: WorkOptions): Promise<void>;
  /** Reports what happens in the turn of a job; of use to who looks on, and lost where no one does. */
  report(id: string, events: readonly object[]): Promise<void>;
  /** Hears what workers report of jobs of this queue. Events arrive as they were written: check them. */
  hear(heard: (id: string, event: unknown) => void): Promise<void>;
  /** All jobs that the engine still remembers, oldest first. */
  jobs(): Promise<readonly QueuedJob[]>;
  close(): Promise<void>;
}

/** How a worker works. */
export interface WorkOptions {
  /** Its name, as `ralph queue status` shows it. */
  readonly worker: string;
  /** Jobs at once. */
  readonly lanes: number;
  /** Ends after one job. */
  readonly once: boolean;
  readonly signal: AbortSignal;
  /**
   * A job that throws `job-refused` is given up at once, anything else is handed out again; `job-given-back` to another
   * worker, and this one takes no more in that lane before its time (`details.until`, milliseconds since 1970).
   */
  readonly handle: (job: unknown, place: HandlePlace) => Promise<JobResult>;
}

export interface HandlePlace {
  readonly lane: number;
  readonly signal: AbortSignal;
  /** It was handed out to no one before. */
  readonly isNew: boolean;
}

/** The address of the engine, and the queue. */
export interface EngineOptions {
  /** `postgres://user@host/database`; what it leaves out is read from libpq's variables (`PGHOST`, `PGPASSWORD` …). */
  readonly url: string;
  /** Jobs of one repository, and of nothing else. */
  readonly queue: string;
  readonly clock: Clock;
  /** Waits a minute for a database that is away. @default not at all */
  readonly patience?: { readonly signal: AbortSignal; readonly report: (line: string) => void };
}
