import type { Reject, Task } from "../types.ts";

/** A commit that touched the plan, or joined lines that did. */
export interface PlanCommit {
  readonly hash: string;
  readonly short: string;
  /** Nearest such commits before it. */
  readonly parents: readonly string[];
  /** When it was written: ISO 8601. */
  readonly date: string;
  /** When it was committed: seconds since 1970. */
  readonly committed: number;
  /** The author's e-mail. */
  readonly author: string;
}

/** A moment of a task's life. */
export interface Moment {
  readonly commit: PlanCommit;
  /** Place in the order in which the history was read. */
  readonly order: number;
}

/** One rejection. */
export interface RejectionMoment extends Moment, Pick<Reject, "doneAt" | "reason"> {}

/** The end of a task's life so far. */
export type TaskOutcome = "pending" | "done" | "accepted" | "rejected" | "cancelled" | "decomposed";

/** One task's life along one line of the history. Never changed: each event makes a new one. */
export interface Life {
  /** As the file last had it; `kill` stays once it was said. */
  readonly task: Task;
  /** Its status in the file, or `null` when it is not there. */
  readonly s: string | null;
  /** The last time it was done, and what `done_at` said. */
  readonly lastDone: Moment | null;
  readonly lastDoneAt: string | null;
  readonly created: Moment;
  readonly done: Moment | null;
  readonly accepted: Moment | null;
  readonly cancelled: Moment | null;
  readonly rejected: readonly RejectionMoment[];
  readonly readded: readonly Moment[];
  readonly outcome: TaskOutcome;
  /** Whatever happened last. */
  readonly last: Moment;
}

/** A version of the file says this of a task that it does not hold. */
export interface Absence {
  /** It has a tombstone for the task's last `done_at`. */
  readonly isBuried: boolean;
  /** It is another spec's, or gone itself. */
  readonly isAnothers: boolean;
}

/** `true` if the file says the same of a task as this life. */
export function agrees(life: Life, task: Task | null): boolean {
  return task === null ? life.s === null : life.s === task.s && life.task.doneAt === task.doneAt;
}

/** A life after what one version of the file says of its task. */
export function lived(life: Life | undefined, task: Task | null, now: Moment, absence: Absence): Life | undefined {
  if (task === null) return life === undefined || life.s === null ? life : removed(life, now, absence);
  if (life === undefined) return marked(begun(task, now), now);
  const known = { ...life, task: { ...task, kill: task.kill ?? life.task.kill } };
  // The commit of a done task is written down after it was made: nothing has happened to the task.
  if (life.s === "d" && task.s === "d" && life.task.doneAt === null) return { ...known, lastDoneAt: task.doneAt };
  if (life.s !== null) return agrees(life, task) ? known : marked(known, now);
  // In the file again: what ended it is void.
  return marked({ ...known, readded: [...life.readded, now], accepted: null, cancelled: null }, now);
}

/** A tombstone names the commit at which the task was last done, whether or not a version of the file named it too. */
export function buries(tomb: Pick<RejectionMoment, "doneAt">, { lastDone, lastDoneAt }: Life): boolean {
  if (lastDoneAt !== null) return tomb.doneAt === lastDoneAt;
  return lastDone !== null && tomb.doneAt !== "" && lastDone.commit.hash.startsWith(tomb.doneAt);
}

/** A life with the rejections that tombstones record. */
export function withRejections(life: Life, rejections: readonly RejectionMoment[]): Life {
  const news = rejections.filter((one) =>
    !life.rejected.some(({ doneAt, reason }) => doneAt === one.doneAt && reason === one.reason)
  );
  const newest = news.at(-1);
  if (newest === undefined) return life;
  const rejected = [...life.rejected, ...news].toSorted((one, other) => one.order - other.order);
  return { ...life, rejected, last: later(life.last, newest) };
}

/** The later of two lives of one task, by when something happened last. */
export function laterLife(one: Life, other: Life): Life {
  return later(one.last, other.last) === other.last ? other : one;
}

function marked(life: Life, now: Moment): Life {
  const { s, doneAt } = life.task;
  const base = { ...life, s, last: now };
  if (s === "d") {
    // A revert brings the old `done` back.
    const done = life.s !== "d" && life.lastDone !== null && doneAt === life.lastDoneAt ? life.lastDone : now;
    return { ...base, done, lastDone: done, lastDoneAt: doneAt, accepted: null, outcome: "done" };
  }
  if (s === "a") return { ...base, accepted: life.accepted ?? now, outcome: "accepted" };
  return { ...base, done: null, accepted: null, outcome: "pending" };
}

/**
 * Gone from the file. Done: accepted, unless its tombstone is there, or the file went over to another spec. Pending:
 * rejected where it was tried and a tombstone said so, else cancelled.
 */
function removed(life: Life, now: Moment, { isBuried, isAnothers }: Absence): Life {
  const gone = { ...life, s: null, last: now };
  if (life.s === "a") return { ...gone, outcome: "accepted" };
  if (isBuried || (life.s !== "d" && life.rejected.length > 0)) return { ...gone, outcome: "rejected" };
  return life.s === "d" && !isAnothers
    ? { ...gone, accepted: now, outcome: "accepted" }
    : { ...gone, cancelled: now, outcome: "cancelled" };
}

function begun(task: Task, now: Moment): Life {
  const never = { s: null, lastDone: null, lastDoneAt: null, done: null, accepted: null, cancelled: null };
  return { ...never, task, created: now, rejected: [], readded: [], outcome: "pending", last: now };
}

function later(one: Moment, other: Moment): Moment {
  const difference = other.commit.committed - one.commit.committed || other.order - one.order;
  return difference > 0 ? other : one;
}
