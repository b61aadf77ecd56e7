import type { Life, Moment, RejectionMoment } from "./types.ts";

/** A task as one version of the file has it. */
export interface TaskState {
  readonly id: string;
  readonly name: string;
  readonly spec: string;
  readonly s: string;
  readonly doneAt: string | null;
  /** What it came of, and why it was cut: as the file last said. */
  readonly parent: string | null;
  readonly createdFrom: string | null;
  readonly supersedes: string | null;
  readonly kill: string | null;
}

/** What a version of the file says of a task that it does not hold. */
export interface Absence {
  /** It has a tombstone for the task's last `done_at`. */
  readonly isBuried: boolean;
  /** It is another spec's, or gone itself. */
  readonly isAnothers: boolean;
}

/** Whether the file says of a task what this life says. */
export function agrees(life: Life | undefined, state: TaskState | null): boolean {
  if (state === null) return life === undefined || life.s === null;
  return life !== undefined && life.s === state.s && life.doneAt === state.doneAt;
}

/** A life after what one version of the file says of its task. */
export function lived(
  life: Life | undefined,
  state: TaskState | null,
  now: Moment,
  absence: Absence,
): Life | undefined {
  if (state === null) return life === undefined || life.s === null ? life : removed(life, now, absence);
  if (life === undefined) return marked({ ...blank(state, now), s: null }, state, now);
  const { name, spec, parent, createdFrom, supersedes, kill } = state;
  const known = { ...life, name, spec, parent, createdFrom, supersedes, kill: kill ?? life.kill };
  if (life.s !== null) return agrees(life, state) ? known : marked(known, state, now);
  // In the file again: what ended it is void.
  return marked({ ...known, readded: [...life.readded, now], accepted: null, cancelled: null }, state, now);
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

function marked(life: Life, { s, doneAt }: TaskState, now: Moment): Life {
  const base = { ...life, s, doneAt, last: now };
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
  const gone = { ...life, s: null, doneAt: null, last: now };
  if (life.s === "a") return { ...gone, outcome: "accepted" };
  if (isBuried || (life.s !== "d" && life.rejected.length > 0)) return { ...gone, outcome: "rejected" };
  return life.s === "d" && !isAnothers
    ? { ...gone, accepted: now, outcome: "accepted" }
    : { ...gone, cancelled: now, outcome: "cancelled" };
}

function blank({ id, name, spec, parent, createdFrom, supersedes, kill }: TaskState, now: Moment): Life {
  return {
    id,
    name,
    spec,
    parent,
    createdFrom,
    supersedes,
    kill,
    s: null,
    doneAt: null,
    lastDone: null,
    lastDoneAt: null,
    created: now,
    done: null,
    accepted: null,
    cancelled: null,
    rejected: [],
    readded: [],
    outcome: "pending",
    last: now,
  };
}

function later(one: Moment, other: Moment): Moment {
  const difference = other.commit.committed - one.commit.committed || other.order - one.order;
  return difference > 0 ? other : one;
}
