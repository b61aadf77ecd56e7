import { readLine } from "../read_line.ts";
import { agrees, laterLife, lived, type TaskState, withRejections } from "./life.ts";
import { lineChanges } from "./line_changes.ts";
import type { Life, Moment, PlanCommit, PlanVersion, RejectionMoment } from "./types.ts";

/** What is known after one commit. */
interface Known {
  readonly content: Buffer;
  readonly lives: Map<string, Life>;
  /** Tombstones in the file, by id, commit and reason. */
  readonly tombs: Map<string, Tomb>;
}

interface Tomb {
  readonly id: string;
  readonly doneAt: string;
  readonly reason: string;
}

/** Walks the history, parents before children, one version at a time. */
export interface Walk {
  take(version: PlanVersion): void;
  /** Commits in which the file came back after it was gone. */
  appeared(): readonly string[];
  /** Every task ever, by where its lines ended. */
  lives(): readonly Life[];
}

const EMPTY: Buffer = Buffer.alloc(0);

/** Begins a walk over these commits. Memory: one version for each line of the history that is open at a time. */
export function startWalk(commits: readonly PlanCommit[]): Walk {
  const waiting = new Map<string, number>();
  for (const { parents } of commits) for (const parent of parents) waiting.set(parent, (waiting.get(parent) ?? 0) + 1);
  const open = new Map<string, Known>();
  const ends: Known[] = [];
  const appeared: string[] = [];
  let order = 0;

  /** What a parent knew; its own copy goes to the last child that asks. */
  function inherit(hash: string): Known {
    const known = open.get(hash) ?? { content: EMPTY, lives: new Map(), tombs: new Map() };
    const left = (waiting.get(hash) ?? 1) - 1;
    waiting.set(hash, left);
    if (left > 0) return { content: known.content, lives: new Map(known.lives), tombs: new Map(known.tombs) };
    open.delete(hash);
    return known;
  }

  return {
    take(version) {
      const { content: _, ...commit } = version;
      const now: Moment = { commit, order: order++ };
      const parents = version.parents.map(inherit);
      const [first, ...others] = parents;
      if (parents.length > 0 && version.content.length > 0 && parents.every(({ content }) => content.length === 0)) {
        appeared.push(version.hash);
      }
      const known = advance(
        first ?? { content: EMPTY, lives: new Map(), tombs: new Map() },
        others,
        version.content,
        now,
      );
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

function advance(first: Known, others: readonly Known[], content: Buffer, now: Moment): Known {
  const { states, tombs, buried, isAnothers } = changesOf(first, content);
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
    const state = states.has(id) ? states.get(id) ?? null : stateOf(own);
    const life = resolve(known, state, rejections.get(id) ?? [], now, { tombs: first.tombs, isAnothers });
    if (life !== undefined) lives.set(id, life);
  }
  return { content, lives, tombs: first.tombs };
}

/** Where a parent agrees with the file, nothing happened here; else the last that happened is gone on from. */
function resolve(
  known: readonly Life[],
  state: TaskState | null,
  rejections: readonly RejectionMoment[],
  now: Moment,
  { tombs, isAnothers }: { readonly tombs: ReadonlyMap<string, Tomb>; readonly isAnothers: boolean },
): Life | undefined {
  const agreeing = known.filter((life) => agrees(life, state));
  const base = pick(agreeing) ?? pick(state === null ? known.filter(({ s }) => s !== null) : known);
  const before = base === undefined ? undefined : joined(known, withRejections(base, rejections));
  const isBuried = state === null &&
    [...tombs.values()].some(({ id, doneAt }) => id === before?.id && doneAt === before.lastDoneAt);
  const life = lived(before, state, now, { isBuried, isAnothers });
  return life === undefined ? undefined : withRejections(life, rejections);
}

function pick(lives: readonly Life[]): Life | undefined {
  return lives.length === 0 ? undefined : lives.reduce(laterLife);
}

/** What was rejected on any line was rejected. */
function joined(lives: readonly Life[], chosen: Life): Life {
  const created = lives.reduce((first, { created: one }) => one.order < first.order ? one : first, chosen.created);
  const whole = lives.reduce((life, { rejected }) => withRejections(life, rejected), chosen);
  return created === whole.created ? whole : { ...whole, created };
}

interface Changes {
  /** Tasks that the commit touched: what the file says now, `null` for one that is gone. */
  readonly states: ReadonlyMap<string, TaskState | null>;
  readonly tombs: ReadonlyMap<string, Tomb>;
  readonly buried: readonly string[];
  /** The file went over to another spec, or is gone. */
  readonly isAnothers: boolean;
}

function changesOf({ content: before }: Known, content: Buffer): Changes {
  const { removed, added } = lineChanges(before, content);
  const states = new Map<string, TaskState | null>();
  const tombs = new Map<string, Tomb>();
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
  for (const [id, state] of states) if (state === null) states.set(id, twin(id, content));
  const isAnothers = content.length === 0 || (taken.length > 0 && left.some((spec) => !taken.includes(spec)));
  return { states, tombs, buried, isAnothers };
}

/** Another line of the same id that is still there: ids that occur twice. */
function twin(id: string, content: Buffer): TaskState | null {
  if (!content.includes(JSON.stringify(id))) return null;
  for (const line of content.toString("utf8").split("\n")) {
    if (!line.includes(id)) continue;
    const { entry } = readLine(line, 0);
    if (entry.type === "task" && entry.task.id === id) return entry.task;
  }
  return null;
}

function tombKey({ id, doneAt, reason }: Tomb): string {
  return JSON.stringify([id, doneAt, reason]);
}

function stateOf(life: Life | undefined): TaskState | null {
  if (life === undefined || life.s === null) return null;
  const { id, name, spec, s, doneAt, parent, createdFrom, supersedes, kill } = life;
  return { id, name, spec, s, doneAt, parent, createdFrom, supersedes, kill };
}
