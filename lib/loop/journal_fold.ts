import type { BriefRecord, JournalKey, Leftover, OpenItem } from "../backlog/journal_types.ts";
import type { Attempt, Item, ParkedItem, Settlement } from "../backlog/types.ts";

interface Named {
  readonly v: 1;
  readonly key: string;
}
interface OfItem extends Named {
  readonly itemId: string;
  readonly fingerprint: string | null;
}
type Work = Readonly<Record<string, string | null>>;

/** One line of the journal. */
export type JournalLine =
  | (Named & {
    readonly type: "begun";
    readonly item: Item;
    readonly attemptId: string;
    readonly number: number;
    readonly userPaths: readonly string[];
  })
  | (OfItem & { readonly type: "settling"; readonly attempt: Attempt; readonly work: Work })
  | (OfItem & {
    readonly type: "settled";
    readonly attemptId: string;
    readonly settlement: Settlement;
    readonly kept: Work;
  })
  | (OfItem & { readonly type: "parked"; readonly reason: string })
  | (Named & { readonly type: "left"; readonly itemId: string; readonly kept: Work })
  | (Named & { readonly type: "brief"; readonly record: BriefRecord })
  | (Named & { readonly type: "brief-restored" })
  | (Named & { readonly type: "unparked" | "run-ended" });

interface Slot {
  readonly open: Map<string, OpenItem>;
  readonly history: Map<string, Attempt[]>;
  readonly parked: Map<string, ParkedItem>;
  readonly leftovers: Map<string, Leftover>;
}

/** The journal's lines, added up. */
export interface JournalState {
  readonly slots: ReadonlyMap<string, Slot>;
  /** Of the newest run, whichever backlog it was of. */
  readonly brief: { readonly key: string; readonly record: BriefRecord; readonly ended: boolean } | null;
  apply(line: JournalLine): void;
  history(key: JournalKey, item: Item): readonly Attempt[];
  open(key: JournalKey): readonly OpenItem[];
  interrupted(backlog: string): boolean;
  parked(key: JournalKey): readonly ParkedItem[];
  leftovers(key: JournalKey): ReadonlyMap<string, Leftover>;
}

/** The one string under which a backlog's lines stand. */
export function keyOf(key: JournalKey): string {
  return JSON.stringify([key.backlog, key.scope]);
}

/** Adds up the text of a journal; lines that are not JSON (torn by a kill) are left out. */
export function foldJournal(text: string): JournalState {
  const slots = new Map<string, Slot>();
  const slotOf = (key: string): Slot => {
    const slot = slots.get(key) ?? { open: new Map(), history: new Map(), parked: new Map(), leftovers: new Map() };
    slots.set(key, slot);
    return slot;
  };
  let brief: JournalState["brief"] = null;
  const state: JournalState = {
    slots,
    get brief() {
      return brief;
    },
    apply(line) {
      if (line.type === "brief") brief = { key: line.key, record: line.record, ended: false };
      else if (line.type === "brief-restored") brief = brief === null ? null : { ...brief, ended: true };
      else applyLine(slotOf(line.key), line);
    },
    history: (key, item) => slotOf(keyOf(key)).history.get(historyKey(item.id, item.fingerprint ?? null)) ?? [],
    open: (key) => [...slotOf(keyOf(key)).open.values()],
    interrupted: (backlog) => [...slots].some(([key, slot]) => slot.open.size > 0 && JSON.parse(key)[0] === backlog),
    parked: (key) => [...slotOf(keyOf(key)).parked.values()],
    leftovers: (key) => slotOf(keyOf(key)).leftovers,
  };
  for (const text_ of text.split("\n")) {
    const line = parseLine(text_);
    if (line !== null) state.apply(line);
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
  for (const [key, slot] of state.slots) {
    const named = { v: 1, key } as const;
    for (const { id, fingerprint, reason } of slot.parked.values()) {
      lines.push({ type: "parked", ...named, itemId: id, fingerprint, reason });
    }
    for (const [path, { itemId, content }] of slot.leftovers) {
      lines.push({ type: "left", ...named, itemId, kept: { [path]: content } });
    }
    for (const { item, attemptId, number, userPaths, attempt, work } of slot.open.values()) {
      lines.push({ type: "begun", ...named, item, attemptId, number, userPaths });
      const of = { itemId: item.id, fingerprint: item.fingerprint ?? null };
      if (attempt !== null) lines.push({ type: "settling", ...named, ...of, attempt, work });
    }
  }
  return lines;
}

function applyLine(slot: Slot, line: Exclude<JournalLine, { readonly type: "brief" | "brief-restored" }>): void {
  switch (line.type) {
    case "begun": {
      const { item, attemptId, number, userPaths } = line;
      slot.open.set(item.id, { item, attemptId, number, userPaths, attempt: null, work: {} });
      return;
    }
    case "settling": {
      const open = slot.open.get(line.itemId);
      if (open !== undefined) slot.open.set(line.itemId, { ...open, attempt: line.attempt, work: line.work });
      return;
    }
    case "settled":
      return applySettled(slot, line);
    case "parked":
      slot.parked.set(line.itemId, { id: line.itemId, fingerprint: line.fingerprint, reason: line.reason });
      return;
    case "left":
      return keep(slot, line.itemId, line.kept);
    case "unparked":
      return slot.parked.clear();
    case "run-ended":
      return slot.history.clear();
  }
}

function applySettled(slot: Slot, line: JournalLine & { readonly type: "settled" }): void {
  const { itemId, fingerprint, settlement } = line;
  const attempt = slot.open.get(itemId)?.attempt ?? null;
  slot.open.delete(itemId);
  const key = historyKey(itemId, fingerprint);
  if (settlement.status === "passed" || settlement.status === "parked") slot.history.delete(key);
  else if (attempt !== null && attempt.status !== "interrupted") {
    slot.history.set(key, [...slot.history.get(key) ?? [], attempt]);
  }
  if (settlement.status === "parked") slot.parked.set(itemId, { id: itemId, fingerprint, reason: settlement.reason });
  if (settlement.status === "passed") slot.parked.delete(itemId);
  keep(slot, itemId, line.kept);
}

function keep(slot: Slot, itemId: string, kept: Work): void {
  for (const [path, leftover] of slot.leftovers) if (leftover.itemId === itemId) slot.leftovers.delete(path);
  for (const [path, content] of Object.entries(kept)) slot.leftovers.set(path, { itemId, content });
}

function historyKey(itemId: string, fingerprint: string | null): string {
  return JSON.stringify([itemId, fingerprint]);
}

function parseLine(text: string): JournalLine | null {
  if (text.trim() === "") return null;
  try {
    return JSON.parse(text) as JournalLine;
  } catch {
    return null;
  }
}
