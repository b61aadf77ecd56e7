import { jsonIn } from "../../host/data.ts";
import { stateInvalid } from "../../errors/ralph_error.ts";
import type * as journal from "../../backlog/journal_types.ts";
import { isRecord, type JournalLine, keyOf, type LineFields, type LineOf, type LineType } from "./journal_record.ts";
import type { Attempt, Item, ParkedItem, PassedRecord } from "../../backlog/types.ts";
import { attempted, begunAt, type Judging, NOT_ATTEMPTED, runEndedAt } from "./judging_history.ts";

/** One backlog in the journal. */
export interface Slot {
  readonly open: Map<string, journal.OpenItem>;
  readonly history: Map<string, Attempt[]>;
  readonly parked: Map<string, ParkedItem>;
  readonly passed: Map<string, PassedRecord>;
  readonly reopened: Map<string, journal.Reopened>;
  readonly leftovers: Map<string, journal.Leftover>;
  readonly overwritten: Map<string, journal.Overwritten>;
  /** Commits before the first attempts at items that are not done. */
  readonly started: Map<string, string>;
  readonly stowed: Map<string, journal.Stowed>;
  /** A person's words for items, until a run has passed. */
  readonly told: Map<string, readonly string[]>;
  /** The parked items that a person has said something for since. */
  readonly answered: Set<string>;
  /** Items' own checks before their first turns, by item id. */
  readonly baselines: Map<string, Baseline>;
  judging: Judging;
  clean: journal.CleanStart | null;
}

/** An item's own checks before its first turn. */
interface Baseline {
  readonly fingerprint: string | null;
  readonly green: boolean;
  /** A turn may have worked on the item since. */
  readonly isWorkedOn: boolean;
}

/** The journal's lines, added up. */
export interface JournalState {
  readonly slots: ReadonlyMap<string, Slot>;
  /** The brief of the newest run, whichever backlog it was of. */
  readonly brief: { readonly key: string; readonly record: journal.BriefRecord; readonly ended: boolean } | null;
  readonly named: journal.NamedByRun | null;
  /** The lines of one backlog. */
  slot(key: journal.JournalKey): Slot;
  apply(line: JournalLine): void;
}

/** The parts that are no one backlog's. */
type Newest = { -readonly [Part in "brief" | "named"]: JournalState[Part] };

/** The key of `keyOf()`. */
export function journalKey(key: string): journal.JournalKey {
  const [backlog = "", scope = ""] = JSON.parse(key) as readonly string[];
  return { backlog, scope };
}

/**
 * Adds up the text of a journal; lines that are not JSON (torn by a kill) are left out.
 *
 * @param path named where a line is JSON and no record
 * @throws {RalphError} state-invalid
 */
export function foldJournal(text: string, path = "the journal"): JournalState {
  const slots = new Map<string, Slot>();
  const slotOf = (key: string): Slot => {
    const slot = slots.get(key) ?? newSlot();
    slots.set(key, slot);
    return slot;
  };
  const state: JournalState & Newest = {
    slots,
    brief: null,
    named: null,
    slot: (key) => slotOf(keyOf(key)),
    apply: (line) => applyLine(line, slotOf(line.key), state),
  };
  for (const [index, text_] of text.split("\n").entries()) {
    const line = jsonIn(text_) ?? null;
    if (line === null) continue; // torn, or no line
    if (!isRecord(line)) {
      const hint = "take the line out; what it was about is checked again";
      throw stateInvalid(`${path}:${index + 1}`, "no record of a journal", hint);
    }
    state.apply(line);
  }
  return state;
}

/** The few lines that say the same as the whole journal does for what is still to come. */
export function keptLines({ brief, named, slots }: JournalState): readonly JournalLine[] {
  const lines: JournalLine[] = [];
  if (brief !== null) {
    const { key, record, ended } = brief;
    lines.push({ type: "brief", v: 1, key, record });
    if (ended) lines.push({ type: "brief-restored", v: 1, key });
  }
  if (named !== null) {
    lines.push({ type: "noticed", v: 1, key: keyOf(named), notices: named.notices, lack: named.lack });
  }
  for (const [key, slot] of slots) {
    const of = { v: 1, key } as const;
    for (const { item, attempt, work, fold, landing, kept, ...begun } of slot.open.values()) {
      lines.push({ type: "begun", ...of, item, ...begun });
      if (kept !== undefined) lines.push({ type: "kept", ...of, itemId: item.id, ...kept });
      if (attempt !== null) lines.push({ type: "settling", ...of, ...ofItem(item), attempt, work, fold, landing });
    }
    // after `begun`, which continues it
    if (slot.open.size > 0 || slot.judging !== NOT_ATTEMPTED) {
      lines.push({ type: "judging", ...of, judging: slot.judging });
    }
    const told = [...slot.told].flatMap(([itemId, texts]) =>
      texts.map((text) => ({ type: "told", ...of, itemId, text }) as const)
    );
    lines.push(...told.filter(({ itemId }) => !slot.answered.has(itemId)));
    for (const { id: itemId, ...parked } of slot.parked.values()) {
      lines.push({ type: "parked", ...of, itemId, ...parked });
    }
    lines.push(...told.filter(({ itemId }) => slot.answered.has(itemId)));
    if (slot.clean !== null) {
      const { absent, looked, inTree } = slot.clean;
      lines.push({ type: "clean-start", ...of, absent });
      for (const command of Object.keys(looked)) {
        lines.push({ type: "clean-finding", ...of, command, why: inTree[command] ?? null });
      }
    }
    for (const record of slot.passed.values()) lines.push({ type: "passed", ...of, record });
    for (const [path, { itemId, content }] of slot.leftovers) {
      lines.push({ type: "left", ...of, itemId, kept: { [path]: content } });
    }
    for (const [path, { itemId, ...found }] of slot.overwritten) {
      lines.push({ type: "left", ...of, itemId, kept: {}, overwritten: { [path]: found } });
    }
    for (const [itemId, stowed] of slot.stowed) lines.push({ type: "stowed", ...of, itemId, ...stowed });
    for (const [itemId, { fingerprint, green, isWorkedOn }] of slot.baselines) {
      lines.push({ type: "baseline", ...of, itemId, fingerprint, green, isWorkedOn });
    }
    for (const [itemId, head] of slot.started) lines.push({ type: "started", ...of, itemId, head });
  }
  return lines;
}

/** The fields by which a line names an item. */
export function ofItem(item: Item): { readonly itemId: string; readonly fingerprint: string | null } {
  return { itemId: item.id, fingerprint: item.fingerprint ?? null };
}

/** How a line of each kind changes what is known. */
const APPLY: { readonly [Type in LineType]: (slot: Slot, line: LineOf<Type>, newest: Newest) => void } = {
  begun: applyBegun,
  kept(slot, { itemId, head, work }) {
    const open = slot.open.get(itemId);
    if (open !== undefined) slot.open.set(itemId, { ...open, kept: { head, work } });
  },
  settling: applySettling,
  settled: applySettled,
  started: (slot, { itemId, head }) => void slot.started.set(itemId, head),
  baseline: (slot, line) => void slot.baselines.set(line.itemId, { isWorkedOn: false, ...line }),
  stowed: (slot, { itemId, ref, isBack }) => void slot.stowed.set(itemId, { ref, isBack }),
  parked: (slot, { itemId: id, fingerprint, reason }) => void slot.parked.set(id, { id, fingerprint, reason }),
  left: keep,
  passed: (slot, { record }) => void slot.passed.set(record.id, record),
  reopened(slot, { ids, reason }) {
    for (const id of ids) {
      slot.passed.delete(id);
      slot.reopened.set(id, { times: (slot.reopened.get(id)?.times ?? 0) + 1, reason });
    }
  },
  "clean-start": (slot, { absent }) => void (slot.clean = { absent, looked: {}, inTree: {} }),
  "clean-finding"(slot, { command, why }) {
    const { absent, looked, inTree } = slot.clean ?? { absent: [], looked: {}, inTree: {} };
    const known = why === null ? inTree : { ...inTree, [command]: why };
    slot.clean = { absent, looked: { ...looked, [command]: true }, inTree: known };
  },
  "clean-forgotten": (slot) => void (slot.clean = null),
  told(slot, { itemId, text }) {
    slot.told.set(itemId, [...slot.told.get(itemId) ?? [], text]);
    if (slot.parked.has(itemId)) slot.answered.add(itemId);
  },
  unparked(slot, { ids = [...slot.parked.keys()] }) {
    for (const id of ids) {
      slot.parked.delete(id);
      slot.answered.delete(id);
    }
  },
  judging: (slot, { judging }) => void (slot.judging = judging),
  "run-ended"(slot, { passed, head = null, isDoubted }) {
    slot.judging = passed === true && isDoubted !== true ? NOT_ATTEMPTED : runEndedAt(slot.judging, head);
    slot.history.clear();
    slot.reopened.clear();
    if (passed !== true) return;
    slot.overwritten.clear();
    slot.baselines.clear();
    slot.told.clear();
    for (const [id, record] of slot.passed) slot.passed.set(id, { ...record, closed: true });
  },
  brief: (_, { key, record }, newest) => void (newest.brief = { key, record, ended: false }),
  "brief-restored": (_, __, newest) => void (newest.brief &&= { ...newest.brief, ended: true }),
  noticed: (_, { key, notices, lack }, newest) =>
    void (newest.named = { ...journalKey(key), notices, ...lack === undefined ? {} : { lack } }),
};

function applyLine<Type extends LineType>(line: LineOf<Type>, slot: Slot, newest: Newest): void {
  const apply: (typeof APPLY)[Type] = APPLY[line.type];
  apply(slot, line, newest);
}

function applyBegun(slot: Slot, { item, attemptId, number, userPaths, head, branch, apart }: LineOf<"begun">): void {
  slot.open.set(item.id, { item, attemptId, number, userPaths, head, branch, apart, attempt: null, work: {} });
  const isHere = typeof head === "string" && apart !== true; // what its turns commit is on the branch
  if (isHere && !slot.started.has(item.id)) slot.started.set(item.id, head);
  if (head !== undefined) slot.judging = begunAt(slot.judging, head);
}

function applySettling(slot: Slot, { itemId, attempt, work, fold, landing }: LineOf<"settling">): void {
  const open = slot.open.get(itemId);
  if (open === undefined) return;
  // settled again after a kill: the commit that took the folded ones' place may be there
  slot.open.set(itemId, { ...open, attempt, work, fold: fold ?? open.fold, landing });
}

function applySettled(slot: Slot, line: LineOf<"settled">, newest: Newest): void {
  const { itemId, fingerprint, settlement, passed } = line;
  const { backlog, scope } = journalKey(line.key);
  const isSame = newest.named?.backlog === backlog && newest.named.scope === scope;
  // until the run has ended, which a kill may prevent
  newest.named = { backlog, scope, notices: isSame ? newest.named?.notices ?? [] : [], lack: "end" };
  const open = slot.open.get(itemId);
  const attempt = open?.attempt ?? null;
  if (open !== undefined) slot.judging = attempted(slot.judging, open, passed?.commit ?? null);
  slot.open.delete(itemId);
  const head = passed?.commit ?? null;
  for (const [id, other] of head === null ? [] : slot.open) slot.open.set(id, { ...other, head });
  const baseline = slot.baselines.get(itemId);
  const isRefused = attempt !== null && attempt.turn === null && attempt.greenBefore === true; // without a turn
  if (baseline !== undefined && !isRefused) slot.baselines.set(itemId, { ...baseline, isWorkedOn: true });
  else if (baseline?.isWorkedOn === false) slot.baselines.delete(itemId); // a person changes what it was taken on
  const { reopened = [] } = settlement;
  // Sending items back is what a review is for: it is no failed attempt.
  if (settlement.status === "passed" || settlement.status === "parked" || reopened.length > 0) {
    slot.history.delete(itemId);
    if (reopened.length === 0) slot.started.delete(itemId);
  } else if (attempt !== null && attempt.status !== "interrupted") {
    slot.history.set(itemId, [...slot.history.get(itemId) ?? [], attempt]);
  }
  for (const id of [itemId, ...reopened]) slot.passed.delete(id);
  if (settlement.status === "passed" && passed !== undefined) slot.passed.set(itemId, passed);
  if (settlement.status === "parked") slot.parked.set(itemId, { id: itemId, fingerprint, reason: settlement.reason });
  if (settlement.status === "passed") {
    slot.parked.delete(itemId);
    slot.answered.delete(itemId);
    slot.stowed.delete(itemId);
  }
  for (const [path, leftover] of slot.leftovers) if (leftover.itemId === itemId) slot.leftovers.delete(path);
  keep(slot, line);
}

function keep(slot: Slot, { itemId, kept, overwritten = {} }: LineFields["left"]): void {
  for (const [path, found] of Object.entries(overwritten)) slot.overwritten.set(path, { itemId, ...found });
  for (const [path, content] of Object.entries(kept)) slot.leftovers.set(path, { itemId, content });
}

function newSlot(): Slot {
  return {
    open: new Map(),
    history: new Map(),
    parked: new Map(),
    passed: new Map(),
    reopened: new Map(),
    leftovers: new Map(),
    overwritten: new Map(),
    started: new Map(),
    stowed: new Map(),
    told: new Map(),
    answered: new Set(),
    baselines: new Map(),
    judging: NOT_ATTEMPTED,
    clean: null,
  };
}
