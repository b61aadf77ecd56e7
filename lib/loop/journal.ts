/**
 * The loop's own memory: every attempt, and every item that was begun and not settled. Append-only, one JSON line each.
 *
 * @module
 */
import type { Attempt, Item, ParkedItem, SettleCommit, Settlement } from "./types.ts";

/** Which backlog a journal entry belongs to. */
export interface JournalKey {
  /** The backlog's `name`. */
  readonly backlog: string;
  /** The backlog's `scope`, or "". */
  readonly scope: string;
}

/** An item that was begun and not settled: a run was killed. */
export interface OpenItem {
  readonly item: Item;
  readonly attemptId: string;
  readonly number: number;
  /** The attempt, when it was known before the kill: settling had begun. */
  readonly attempt: Attempt | null;
  /** What was being committed, when that was known. */
  readonly commit: JournalCommit | null;
}

/** A commit that was about to be made. */
export interface JournalCommit extends SettleCommit {
  /** What the turn left uncommitted, with the hash of each file's content: only what is still the same is committed. */
  readonly workPaths: Readonly<Record<string, string | null>>;
}

/** Reads and appends. Every append is one write of one line. */
export interface Journal {
  /** Attempts at this item, with this fingerprint, since it last passed, was parked, or a run ended. Oldest first. */
  history(key: JournalKey, item: Item): readonly Attempt[];
  open(key: JournalKey): readonly OpenItem[];
  parked(key: JournalKey): readonly ParkedItem[];
  begun(key: JournalKey, item: Item, attemptId: string, number: number): Promise<void>;
  settling(key: JournalKey, item: Item, attempt: Attempt, commit: JournalCommit | null): Promise<void>;
  settled(key: JournalKey, item: Item, attempt: Attempt, settlement: Settlement): Promise<void>;
  /** `--retry-blocked`: nothing is parked any more. */
  unpark(key: JournalKey): Promise<void>;
  runEnded(key: JournalKey): Promise<void>;
}
