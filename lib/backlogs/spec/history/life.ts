import type { Life, Moment, RejectionMoment, TaskOutcome } from "./types.ts";

/** A task as one version of the file has it. */
export interface TaskState {
  readonly id: string;
  readonly name: string;
  readonly spec: string;
  readonly s: string;
  readonly doneAt: string | null;
}

/** Whether the file says of a task what this life says. */
export function agrees(life: Life | undefined, state: TaskState | null): boolean {
  if (state === null) return life === undefined || life.s === null;
  return life !== undefined && life.s === state.s && life.doneAt === state.doneAt;
}

/** A life after what one version of the file says of its task. */
export function lived(life: Life | undefined, state: TaskState | null, now: Moment): Life | undefined {
  if (state === null) return life === undefined || life.s === null ? life : removed(life, now);
  if (life === undefined) return marked({ ...blank(state, now), s: null }, state, now);
  const known = { ...life, name: state.name, spec: state.spec };
  if (life.s !== null) return agrees(life, state) ? known : marked(known, state, now);
  // Taken back into the file: what ended it is void; a revert brings the old `done` with it.
  const isSameDone = state.s === "d" && state.doneAt === life.lastDoneAt;
  const again = { ...known, readded: [...life.readded, now], accepted: null, cancelled: null };
  return marked({ ...again, done: isSameDone ? life.done : null }, state, now);
}

/** A life with the rejections that tombstones tell. */
export function withRejections(life: Life, rejections: readonly RejectionMoment[]): Life {
  const news = rejections.filter((one) => !life.rejected.some(({ doneAt, reason }) => doneAt === one.doneAt && reason === one.reason));
  const newest = news.at(-1);
  if (newest === undefined) return life;
  const rejected = [...life.rejected, ...news].toSorted((one, other) => one.order - other.order);
  return { ...life, rejected, last: later(life.last, newest) };
}

/** The later of two lives of one task, by when something happened last. */
export function laterLife(one: Life, other: Life): Life {
  return later(one.last, other.last) === other.last ? other : one;
}

function marked(life: Life, state: TaskState, now: Moment): Life {
  const { s, doneAt } = state;
  const base = { ...life, s, doneAt, last: now };
  if (s === "d") {
    const done = life.done ?? now;
    return { ...base, done: life.s === "d" ? now : done, accepted: null, cancelled: null, lastDoneAt: doneAt, outcome: "done" };
  }
  if (s === "a") return { ...base, accepted: life.accepted ?? now, outcome: "accepted" };
  return { ...base, done: null, accepted: null, outcome: "pending" };
}

/** Gone from the file: accepted, rejected or cancelled, by how it stood and what tombstone names the last time it was done. */
function removed(life: Life, now: Moment): Life {
  const gone = { ...life, s: null, doneAt: null, last: now };
  const isRejected = life.lastDoneAt !== null && life.rejected.some(({ doneAt }) => doneAt === life.lastDoneAt);
  const ended = (outcome: TaskOutcome, moments: Partial<Life>): Life => ({ ...gone, ...moments, outcome });
  if (life.s === "a") return ended("accepted", {});
  if (isRejected) return ended("rejected", {});
  return life.s === "d" ? ended("accepted", { accepted: now }) : ended("cancelled", { cancelled: now });
}

function blank({ id, name, spec }: TaskState, now: Moment): Life {
  return {
    id,
    name,
    spec,
    s: null,
    doneAt: null,
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
