/**
 * The lives of the plan's tasks, read from git alone. Ralph compares each commit's plan with its parents' along the
 * real graph, so that merges, reverts and rebased branches report what they did, and nothing twice.
 *
 * @module
 */
import { readLine } from "../plan_file.ts";
import type { Entry, Reject, Task } from "../types.ts";

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
interface RejectionMoment extends Moment, Pick<Reject, "doneAt" | "reason"> {}

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

/** Lines of a text with what they hold, and how often they occur. */
type Lines = Map<string, { readonly entry: Entry; readonly count: number }>;

/** The state after one commit. */
interface Known {
  /** The file. */
  readonly lines: Lines;
  readonly lives: Map<string, Life>;
}

/**
 * Walks the history, parents before children: every task ever, by where its lines ended, and the commits in which the
 * file came, or came back after it was gone. Memory: one state for each line of the history that is open at a time.
 *
 * @param changes of the plan by commit, against its first parent: lines taken away (`-…`) and added (`+…`)
 */
export function walked(
  commits: readonly PlanCommit[],
  changes: ReadonlyMap<string, readonly string[]>,
): { readonly appeared: readonly string[]; readonly lives: readonly Life[] } {
  const waiting = new Map<string, number>();
  for (const { parents } of commits) for (const parent of parents) waiting.set(parent, (waiting.get(parent) ?? 0) + 1);
  const open = new Map<string, Known>();
  const all = new Map<string, Life>();
  const appeared: string[] = [];

  /** A parent's state; its own copy goes to the last child that asks. */
  function inherit(hash: string): Known {
    const known = open.get(hash) ?? nothing();
    const left = (waiting.get(hash) ?? 1) - 1;
    waiting.set(hash, left);
    if (left > 0) return { lines: new Map(known.lines), lives: new Map(known.lives) };
    open.delete(hash);
    return known;
  }

  for (const [order, commit] of commits.entries()) {
    const [first = nothing(), ...others] = commit.parents.map(inherit);
    const wasGone = [first, ...others].every(({ lines }) => lines.size === 0);
    advance(first, others, changes.get(commit.hash) ?? [], { commit, order });
    if (wasGone && first.lines.size > 0) appeared.push(commit.hash);
    if ((waiting.get(commit.hash) ?? 0) > 0) open.set(commit.hash, first);
    else {
      for (const [id, life] of first.lives) {
        const other = all.get(id);
        all.set(id, other === undefined ? life : joined([other, life], laterLife(other, life)));
      }
    }
  }
  return { appeared, lives: [...all.values()] };
}

function nothing(): Known {
  return { lines: new Map(), lives: new Map() };
}

/** Brings a state, the first parent's, to what a commit says. */
function advance({ lines, lives }: Known, others: readonly Known[], changes: readonly string[], now: Moment): void {
  const states = new Map<string, Task | null>();
  const rejections = new Map<string, RejectionMoment[]>();
  const [left, taken]: [string[], string[]] = [[], []];
  for (const [raw, { entry, count }] of changedLines(lines, changes)) {
    const known = (lines.get(raw)?.count ?? 0) + count;
    if (known > 0) lines.set(raw, { entry, count: known });
    else lines.delete(raw);
    if (entry.type === "spec") (count > 0 ? taken : left).push(entry.spec);
    if (entry.type === "task" && (count > 0 || !states.has(entry.task.id))) {
      states.set(entry.task.id, count > 0 ? entry.task : null);
    }
    if (entry.type !== "reject" || count < 0 || others.some((other) => other.lines.has(raw))) continue;
    const { id, doneAt, reason } = entry.reject;
    rejections.set(id, [...rejections.get(id) ?? [], { ...now, doneAt, reason }]);
  }
  const contested = new Set([...states.keys(), ...rejections.keys()]);
  for (const other of others) {
    for (const [id, life] of other.lives) if (lives.get(id) !== life) contested.add(id);
  }
  const isAnothers = lines.size === 0 || (taken.length > 0 && left.some((spec) => !taken.includes(spec)));
  for (const id of contested) {
    const own = lives.get(id);
    const known = [own, ...others.map((other) => other.lives.get(id))].filter((life) => life !== undefined);
    const held = own === undefined || own.s === null ? null : own.task;
    const state = states.get(id) ?? (states.has(id) ? twin(id, lines) : held);
    const life = resolve(known, state, rejections.get(id) ?? [], now, { lines, isAnothers });
    if (life !== undefined) lives.set(id, life);
  }
}

/** The lines of which a commit has more or fewer (`count` below 0), without those that only moved. */
function changedLines(lines: Lines, changes: readonly string[]): Lines {
  const changed: Lines = new Map();
  for (const change of changes) {
    const raw = change.slice(1);
    const { entry } = changed.get(raw) ?? lines.get(raw) ?? readLine(raw, 0);
    changed.set(raw, { entry, count: (changed.get(raw)?.count ?? 0) + (change.startsWith("+") ? 1 : -1) });
  }
  return new Map([...changed].filter(([, { count }]) => count !== 0));
}

/** If a parent agrees with the file, nothing happened here; else the life with the latest event goes on. */
function resolve(
  known: readonly Life[],
  state: Task | null,
  rejections: readonly RejectionMoment[],
  now: Moment,
  { lines, isAnothers }: { readonly lines: Lines; readonly isAnothers: boolean },
): Life | undefined {
  const agreeing = known.filter((life) => agrees(life, state));
  const base = pick(agreeing) ?? pick(state === null ? known.filter(({ s }) => s !== null) : known);
  const before = base === undefined ? undefined : joined(known, withRejections(base, rejections));
  const isBuried = state === null && before !== undefined &&
    [...lines.values()].some(({ entry }) =>
      entry.type === "reject" && entry.reject.id === before.task.id && buries(entry.reject, before)
    );
  const life = lived(before, state, now, { isBuried, isAnothers });
  return life === undefined ? undefined : withRejections(life, rejections);
}

function pick(lives: readonly Life[]): Life | undefined {
  return lives.length === 0 ? undefined : lives.reduce(laterLife);
}

/** A rejection on any line counts. */
function joined(lives: readonly Life[], chosen: Life): Life {
  const created = lives.reduce((first, { created: one }) => one.order < first.order ? one : first, chosen.created);
  const whole = lives.reduce((life, { rejected }) => withRejections(life, rejected), chosen);
  return created === whole.created ? whole : { ...whole, created };
}

/** Another line of the same id that is still there: ids that occur twice. */
function twin(id: string, lines: Lines): Task | null {
  for (const { entry } of lines.values()) if (entry.type === "task" && entry.task.id === id) return entry.task;
  return null;
}

/** A version of the file says this of a task that it does not hold. */
interface Absence {
  /** It has a tombstone for the task's last `done_at`. */
  readonly isBuried: boolean;
  /** It is another spec's, or gone itself. */
  readonly isAnothers: boolean;
}

/** `true` if the file says the same of a task as this life. */
function agrees(life: Life, task: Task | null): boolean {
  return task === null ? life.s === null : life.s === task.s && life.task.doneAt === task.doneAt;
}

/** A life after what one version of the file says of its task. */
function lived(life: Life | undefined, task: Task | null, now: Moment, absence: Absence): Life | undefined {
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
function buries(tomb: Pick<RejectionMoment, "doneAt">, { lastDone, lastDoneAt }: Life): boolean {
  if (lastDoneAt !== null) return tomb.doneAt === lastDoneAt;
  return lastDone !== null && tomb.doneAt !== "" && lastDone.commit.hash.startsWith(tomb.doneAt);
}

/** A life with the rejections that tombstones record. */
function withRejections(life: Life, rejections: readonly RejectionMoment[]): Life {
  const news = rejections.filter((one) =>
    !life.rejected.some(({ doneAt, reason }) => doneAt === one.doneAt && reason === one.reason)
  );
  const newest = news.at(-1);
  if (newest === undefined) return life;
  const rejected = [...life.rejected, ...news].toSorted((one, other) => one.order - other.order);
  return { ...life, rejected, last: later(life.last, newest) };
}

/** The later of two lives of one task, by when something happened last. */
function laterLife(one: Life, other: Life): Life {
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
