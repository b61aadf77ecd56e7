import { readLine } from "../read_line.ts";
import type { Reject, Task } from "../types.ts";
import { agrees, buries, laterLife, lived, withRejections } from "./life.ts";
import { lineChanges } from "./line_changes.ts";
import type { Life, Moment, PlanCommit, PlanVersion, RejectionMoment } from "./types.ts";

/** The state after one commit. */
interface Known {
  /** The lines of the file. */
  readonly lines: readonly string[];
  readonly lives: Map<string, Life>;
  /** Tombstones in the file, by id, commit and reason. */
  readonly tombs: Map<string, Reject>;
}

/** Walks the history, parents before children, one version at a time. */
export interface Walk {
  take(version: PlanVersion): void;
  /** Commits in which the file came back after it was gone. */
  appeared(): readonly string[];
  /** Every task ever, by where its lines ended. */
  lives(): readonly Life[];
}

/** Begins a walk over these commits. Memory: one version for each line of the history that is open at a time. */
export function startWalk(commits: readonly PlanCommit[]): Walk {
  const waiting = new Map<string, number>();
  for (const { parents } of commits) for (const parent of parents) waiting.set(parent, (waiting.get(parent) ?? 0) + 1);
  const open = new Map<string, Known>();
  const ends: Known[] = [];
  const appeared: string[] = [];
  let order = 0;

  /** A parent's state; its own copy goes to the last child that asks. */
  function inherit(hash: string): Known {
    const known = open.get(hash) ?? nothing();
    const left = (waiting.get(hash) ?? 1) - 1;
    waiting.set(hash, left);
    if (left > 0) return { ...known, lives: new Map(known.lives), tombs: new Map(known.tombs) };
    open.delete(hash);
    return known;
  }

  return {
    take(version) {
      const { content, ...commit } = version;
      const now: Moment = { commit, order: order++ };
      const lines = content.toString("utf8").split("\n");
      const parents = version.parents.map(inherit);
      const [first = nothing(), ...others] = parents;
      if (parents.length > 0 && !isEmpty(lines) && parents.every((parent) => isEmpty(parent.lines))) {
        appeared.push(version.hash);
      }
      const known = advance(first, others, lines, now);
      if ((waiting.get(version.hash) ?? 0) > 0) open.set(version.hash, known);
      else ends.push(known);
    },
    appeared: () => appeared,
    lives() {
      const all = new Map<string, Life>();
      for (const { lives } of ends) {
        for (const [id, life] of lives) {
          const other = all.get(id);
          all.set(id, other === undefined ? life : joined([other, life], laterLife(other, life)));
        }
      }
      return [...all.values()];
    },
  };
}

function nothing(): Known {
  return { lines: [""], lives: new Map(), tombs: new Map() };
}

function isEmpty([first, second]: readonly string[]): boolean {
  return first === "" && second === undefined;
}

function advance(first: Known, others: readonly Known[], lines: readonly string[], now: Moment): Known {
  const { states, tombs, buried, isAnothers } = changesOf(first, lines);
  const contested = new Set(states.keys());
  for (const { lives } of others) {
    for (const [id, life] of lives) if (first.lives.get(id) !== life) contested.add(id);
  }
  const rejections = new Map<string, RejectionMoment[]>();
  for (const [key, tomb] of tombs) {
    first.tombs.set(key, tomb);
    if (others.some((other) => other.tombs.has(key))) continue;
    rejections.set(tomb.id, [...rejections.get(tomb.id) ?? [], { ...now, doneAt: tomb.doneAt, reason: tomb.reason }]);
  }
  for (const key of buried) first.tombs.delete(key);

  const { lives } = first;
  for (const id of new Set([...contested, ...rejections.keys()])) {
    const own = lives.get(id);
    const known = [own, ...others.map((other) => other.lives.get(id))].filter((life) => life !== undefined);
    const held = own === undefined || own.s === null ? null : own.task;
    const state = states.get(id) ?? (states.has(id) ? null : held);
    const life = resolve(known, state, rejections.get(id) ?? [], now, { tombs: first.tombs, isAnothers });
    if (life !== undefined) lives.set(id, life);
  }
  return { lines, lives, tombs: first.tombs };
}

/** If a parent agrees with the file, nothing happened here; else the life with the latest event goes on. */
function resolve(
  known: readonly Life[],
  state: Task | null,
  rejections: readonly RejectionMoment[],
  now: Moment,
  { tombs, isAnothers }: { readonly tombs: ReadonlyMap<string, Reject>; readonly isAnothers: boolean },
): Life | undefined {
  const agreeing = known.filter((life) => agrees(life, state));
  const base = pick(agreeing) ?? pick(state === null ? known.filter(({ s }) => s !== null) : known);
  const before = base === undefined ? undefined : joined(known, withRejections(base, rejections));
  const isBuried = state === null && before !== undefined &&
    [...tombs.values()].some((tomb) => tomb.id === before.task.id && buries(tomb, before));
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

interface Changes {
  /** Tasks that the commit touched: what the file says now, `null` for one that is gone. */
  readonly states: ReadonlyMap<string, Task | null>;
  readonly tombs: ReadonlyMap<string, Reject>;
  readonly buried: readonly string[];
  /** The file went over to another spec, or is gone. */
  readonly isAnothers: boolean;
}

function changesOf({ lines: before }: Known, lines: readonly string[]): Changes {
  const { removed, added } = lineChanges(before, lines);
  const states = new Map<string, Task | null>();
  const tombs = new Map<string, Reject>();
  const buried: string[] = [];
  const [left, taken]: [string[], string[]] = [[], []];
  for (const line of removed) {
    const { entry } = readLine(line, 0);
    if (entry.type === "spec") left.push(entry.spec);
    if (entry.type === "task") states.set(entry.task.id, null);
    else if (entry.type === "reject") buried.push(tombKey(entry.reject));
  }
  for (const line of added) {
    const { entry } = readLine(line, 0);
    if (entry.type === "spec") taken.push(entry.spec);
    if (entry.type === "task") states.set(entry.task.id, entry.task);
    else if (entry.type === "reject") tombs.set(tombKey(entry.reject), entry.reject);
  }
  for (const [id, state] of states) if (state === null) states.set(id, twin(id, lines));
  const isAnothers = isEmpty(lines) || (taken.length > 0 && left.some((spec) => !taken.includes(spec)));
  return { states, tombs, buried, isAnothers };
}

/** Another line of the same id that is still there: ids that occur twice. */
function twin(id: string, lines: readonly string[]): Task | null {
  for (const line of lines.filter((one) => one.includes(id))) {
    const { entry } = readLine(line, 0);
    if (entry.type === "task" && entry.task.id === id) return entry.task;
  }
  return null;
}

function tombKey({ id, doneAt, reason }: Reject): string {
  return JSON.stringify([id, doneAt, reason]);
}
