import { RalphError } from "../../errors/ralph_error.ts";
import type {
  BriefRecord,
  CleanStart,
  JournalKey,
  JudgingHistory,
  Leftover,
  NamedByRun,
  OpenItem,
  Reopened,
  Stowed,
} from "../../backlog/journal_types.ts";
import { isRecord, type JournalLine, type Named, parseLine, type Work } from "./journal_record.ts";
import type { Attempt, Item, ParkedItem, PassedRecord } from "../../backlog/types.ts";
import { attempted, begunAt, type Judging, NOT_ATTEMPTED, runEndedAt } from "./judging_history.ts";

interface Slot {
  readonly open: Map<string, OpenItem>;
  readonly history: Map<string, Attempt[]>;
  readonly parked: Map<string, ParkedItem>;
  readonly passed: Map<string, PassedRecord>;
  readonly reopened: Map<string, Reopened>;
  readonly leftovers: Map<string, Leftover>;
  /** Commits before the first attempts at items that are not done. */
  readonly started: Map<string, string>;
  readonly stowed: Map<string, Stowed>;
  /** Items' own checks before their first turns, by item id. */
  readonly baselines: Map<string, Baseline>;
  judging: Judging;
  clean: CleanStart | null;
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
  readonly brief: { readonly key: string; readonly record: BriefRecord; readonly ended: boolean } | null;
  apply(line: JournalLine): void;
  history(key: JournalKey, item: Item): readonly Attempt[];
  open(key: JournalKey): readonly OpenItem[];
  interrupted(backlog?: string): readonly OpenItem[];
  parked(key: JournalKey): readonly ParkedItem[];
  passed(key: JournalKey): readonly PassedRecord[];
  reopened(key: JournalKey): ReadonlyMap<string, Reopened>;
  clean(key: JournalKey): CleanStart | null;
  leftovers(key: JournalKey): ReadonlyMap<string, Leftover>;
  start(key: JournalKey, itemId: string): string | null;
  baseline(key: JournalKey, item: Item): boolean | null;
  stowed(key: JournalKey): ReadonlyMap<string, Stowed>;
  judging(key: JournalKey): JudgingHistory;
  named(): NamedByRun | null;
}

/** A backlog's key in the journal, as one string. */
export function keyOf(key: JournalKey): string {
  return JSON.stringify([key.backlog, key.scope]);
}

function journalKey(key: string): JournalKey {
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
  let brief: JournalState["brief"] = null;
  let named: NamedByRun | null = null;
  const state: JournalState = {
    slots,
    get brief() {
      return brief;
    },
    apply(line) {
      if (line.type === "brief") brief = { key: line.key, record: line.record, ended: false };
      else if (line.type === "brief-restored") brief = brief === null ? null : { ...brief, ended: true };
      else if (line.type === "noticed") {
        const { key, notices, lack } = line;
        named = { ...journalKey(key), notices, ...lack === undefined ? {} : { lack } };
      } else applyLine(slotOf(line.key), line);
    },
    history: (key, item) => slotOf(keyOf(key)).history.get(item.id) ?? [],
    open: (key) => [...slotOf(keyOf(key)).open.values()],
    interrupted: (backlog) =>
      [...slots].filter(([key]) => backlog === undefined || JSON.parse(key)[0] === backlog).flatMap((
        [, slot],
      ) => [...slot.open.values()]),
    parked: (key) => [...slotOf(keyOf(key)).parked.values()],
    passed: (key) => [...slotOf(keyOf(key)).passed.values()],
    reopened: (key) => slotOf(keyOf(key)).reopened,
    clean: (key) => slotOf(keyOf(key)).clean,
    leftovers: (key) => slotOf(keyOf(key)).leftovers,
    stowed: (key) => slotOf(keyOf(key)).stowed,
    start: (key, itemId) => slotOf(keyOf(key)).started.get(itemId) ?? null,
    baseline(key, { id, fingerprint = null }) {
      const known = slotOf(keyOf(key)).baselines.get(id);
      return known?.fingerprint === fingerprint ? known.green : null;
    },
    judging: (key) => slotOf(keyOf(key)).judging,
    named: () => named,
  };
  for (const [index, text_] of text.split("\n").entries()) {
    const line = parseLine(text_);
    if (line === null) continue;
    if (!isRecord(line)) {
      throw new RalphError("state-invalid", {
        details: { path: `${path}:${index + 1}`, problem: "no record of a journal" },
        hint: "take the line out; what it was about is checked again",
      });
    }
    state.apply(line);
  }
  return state;
}

/** The few lines that say the same as the whole journal does for what is still to come. */
export function keptLines(state: JournalState): readonly JournalLine[] {
  const lines: JournalLine[] = [];
  if (state.brief !== null) {
    const { key, record, ended } = state.brief;
    lines.push({ type: "brief", v: 1, key, record });
    if (ended) lines.push({ type: "brief-restored", v: 1, key });
  }
  const named = state.named();
  if (named !== null) {
    const { notices, lack } = named;
    lines.push({ type: "noticed", v: 1, key: keyOf(named), notices, ...lack === undefined ? {} : { lack } });
  }
  for (const [key, slot] of state.slots) {
    const named = { v: 1, key } as const;
    if (slot.judging !== NOT_ATTEMPTED) lines.push({ type: "judging", ...named, judging: slot.judging });
    for (const { id, fingerprint, reason } of slot.parked.values()) {
      lines.push({ type: "parked", ...named, itemId: id, fingerprint, reason });
    }
    if (slot.clean !== null) lines.push(...cleanLines(slot.clean, named));
    for (const record of slot.passed.values()) lines.push({ type: "passed", ...named, record });
    for (const [path, { itemId, content }] of slot.leftovers) {
      lines.push({ type: "left", ...named, itemId, kept: { [path]: content } });
    }
    for (const [itemId, stowed] of slot.stowed) lines.push({ type: "stowed", ...named, itemId, ...stowed });
    for (const [itemId, { fingerprint, green, isWorkedOn }] of slot.baselines) {
      lines.push({ type: "baseline", ...named, itemId, fingerprint, green, isWorkedOn });
    }
    for (const [itemId, head] of slot.started) lines.push({ type: "started", ...named, itemId, head });
    for (const { item, attemptId, number, userPaths, attempt, work, fold, apart, landing } of slot.open.values()) {
      const own = apart === undefined ? {} : { apart };
      lines.push({ type: "begun", ...named, item, attemptId, number, userPaths, ...own });
      const of = { itemId: item.id, fingerprint: item.fingerprint ?? null };
      const more = { ...(fold === undefined ? {} : { fold }), ...(landing === undefined ? {} : { landing }) };
      if (attempt !== null) lines.push({ type: "settling", ...named, ...of, attempt, work, ...more });
    }
  }
  return lines;
}

function cleanLines({ absent, looked, inTree }: CleanStart, named: Named): readonly JournalLine[] {
  return [
    { type: "clean-start", ...named, absent },
    ...Object.keys(looked).map((command): JournalLine => ({
      type: "clean-finding",
      ...named,
      command,
      why: inTree[command] ?? null,
    })),
  ];
}

function applyLine(
  slot: Slot,
  line: Exclude<JournalLine, { readonly type: "brief" | "brief-restored" | "noticed" }>,
): void {
  switch (line.type) {
    case "begun":
      return applyBegun(slot, line);
    case "settling":
      return applySettling(slot, line);
    case "started":
      return void slot.started.set(line.itemId, line.head);
    case "baseline":
      return void slot.baselines.set(line.itemId, { isWorkedOn: false, ...line });
    case "stowed":
      return void slot.stowed.set(line.itemId, { ref: line.ref, isBack: line.isBack });
    case "settled":
      return applySettled(slot, line);
    case "parked":
      slot.parked.set(line.itemId, { id: line.itemId, fingerprint: line.fingerprint, reason: line.reason });
      return;
    case "left":
      return keep(slot, line.itemId, line.kept);
    case "passed":
      slot.passed.set(line.record.id, line.record);
      return;
    case "reopened":
      return line.ids.forEach((id) => {
        slot.passed.delete(id);
        slot.reopened.set(id, { times: (slot.reopened.get(id)?.times ?? 0) + 1, reason: line.reason });
      });
    case "clean-start":
      slot.clean = { absent: line.absent, looked: {}, inTree: {} };
      return;
    case "clean-finding":
      slot.clean = withFinding(slot.clean, line.command, line.why);
      return;
    case "clean-forgotten":
      slot.clean = null;
      return;
    case "unparked":
      return slot.parked.clear();
    case "judging":
      slot.judging = line.judging;
      return;
    case "run-ended":
      slot.judging = line.passed === true && line.isDoubted !== true
        ? NOT_ATTEMPTED
        : runEndedAt(slot.judging, line.head ?? null);
      slot.history.clear();
      slot.reopened.clear();
      if (line.passed === true) {
        slot.baselines.clear();
        for (const [id, record] of slot.passed) slot.passed.set(id, { ...record, closed: true });
      }
      return;
    default:
      return line satisfies never;
  }
}

function withFinding(clean: CleanStart | null, command: string, why: string | null): CleanStart {
  const { absent, looked, inTree } = clean ?? { absent: [], looked: {}, inTree: {} };
  return {
    absent,
    looked: { ...looked, [command]: true },
    inTree: why === null ? inTree : { ...inTree, [command]: why },
  };
}

function applyBegun(slot: Slot, line: JournalLine & { readonly type: "begun" }): void {
  const { item, attemptId, number, userPaths } = line;
  const head = line.head === undefined ? {} : { head: line.head };
  const apart = line.apart === undefined ? {} : { apart: line.apart };
  slot.open.set(item.id, { item, attemptId, number, userPaths, ...head, ...apart, attempt: null, work: {} });
  const isHere = typeof line.head === "string" && line.apart !== true; // what its turns commit is on the branch
  if (isHere && !slot.started.has(item.id)) slot.started.set(item.id, line.head);
  if (line.head !== undefined) slot.judging = begunAt(slot.judging, line.head);
}

function applySettling(slot: Slot, line: JournalLine & { readonly type: "settling" }): void {
  const open = slot.open.get(line.itemId);
  if (open === undefined) return;
  const { fold: _, landing: __, ...known } = open;
  const folded = line.fold === undefined ? {} : { fold: line.fold };
  const landing = line.landing === undefined ? {} : { landing: line.landing };
  slot.open.set(line.itemId, { ...known, attempt: line.attempt, work: line.work, ...folded, ...landing });
}

function applySettled(slot: Slot, line: JournalLine & { readonly type: "settled" }): void {
  const { itemId, fingerprint, settlement } = line;
  const open = slot.open.get(itemId);
  const attempt = open?.attempt ?? null;
  if (open !== undefined) slot.judging = attempted(slot.judging, open, line.passed?.commit ?? null);
  slot.open.delete(itemId);
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
  if (settlement.status === "passed" && line.passed !== undefined) slot.passed.set(itemId, line.passed);
  if (settlement.status === "parked") slot.parked.set(itemId, { id: itemId, fingerprint, reason: settlement.reason });
  if (settlement.status === "passed") {
    slot.parked.delete(itemId);
    slot.stowed.delete(itemId);
  }
  keep(slot, itemId, line.kept);
}

function keep(slot: Slot, itemId: string, kept: Work): void {
  for (const [path, leftover] of slot.leftovers) if (leftover.itemId === itemId) slot.leftovers.delete(path);
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
    started: new Map(),
    stowed: new Map(),
    baselines: new Map(),
    judging: NOT_ATTEMPTED,
    clean: null,
  };
}
