/**
 * The loop's own memory: every attempt, and every item that was begun and not settled. Append-only, one JSON line each.
 *
 * @module
 */
import type { Attempt, Item, ParkedItem, Settlement } from "./types.ts";

/** Which backlog a journal entry belongs to. */
export interface JournalKey {
  /** The backlog's `name`. */
  readonly backlog: string;
  /** The backlog's `scope`, or "". */
  readonly scope: string;
}

/** An item that was begun and not settled: a run was killed. */
export interface OpenItem {
  /** As it was when it was begun. */
  readonly item: Item;
  /** Of the attempt that did not end. */
  readonly attemptId: string;
  /** Of that attempt at the item, from 1. */
  readonly number: number;
  /** The attempt, when it was known before the kill: settling had begun. */
  readonly attempt: Attempt | null;
  /** What the attempt left uncommitted, with a hash of each file's content (`null`: taken away). */
  readonly work: Readonly<Record<string, string | null>>;
  /** Paths that were dirty before any turn of that run: the user's own. */
  readonly userPaths: readonly string[];
}

/** Reads and appends. Every append is one write of one line. */
export interface Journal {
  /** Reads what another process has written since: called when the run lock is held. */
  refresh(): Promise<void>;
  /** Attempts at this item, with this fingerprint, since it last passed, was parked, or a run ended. Oldest first. */
  history(key: JournalKey, item: Item): readonly Attempt[];
  open(key: JournalKey): readonly OpenItem[];
  /** Some item of this backlog was begun and not settled, whatever its scope: known without reading the store. */
  interrupted(backlog: string): boolean;
  parked(key: JournalKey): readonly ParkedItem[];
  /** What earlier attempts left uncommitted, and which item's they were. */
  leftovers(key: JournalKey): ReadonlyMap<string, Leftover>;
  begun(key: JournalKey, item: Item, attempt: BegunAttempt): Promise<void>;
  settling(key: JournalKey, item: Item, attempt: Attempt, work: Readonly<Record<string, string | null>>): Promise<void>;
  /** `kept`: what is still uncommitted afterwards. */
  settled(
    key: JournalKey,
    item: Item,
    attempt: Attempt,
    settlement: Settlement,
    kept: Readonly<Record<string, string | null>>,
  ): Promise<void>;
  /** `--retry-blocked`: nothing is parked any more. */
  unpark(key: JournalKey): Promise<void>;
  runEnded(key: JournalKey): Promise<void>;
  /** The brief of the newest run here, whichever backlog it was of; `ended`: the run ended in order. */
  lastBrief(): { readonly record: BriefRecord; readonly ended: boolean } | null;
  briefRead(key: JournalKey, record: BriefRecord): Promise<void>;
  briefRestored(key: JournalKey): Promise<void>;
}

/** A hash of each file that judges a run, by its path; `null` for one that is absent. */
export interface BriefRecord {
  readonly files: Readonly<Record<string, string | null>>;
  /** Folders that were read as a whole: what is new in them is a change. */
  readonly folders: readonly string[];
}

/** What is known when an attempt begins. */
export interface BegunAttempt {
  /** Unique over all runs. */
  readonly id: string;
  /** At this item, from 1. */
  readonly number: number;
  /** Uncommitted paths that were the user's before. */
  readonly userPaths: readonly string[];
}

/** A file that an attempt changed and nobody committed. */
export interface Leftover {
  readonly itemId: string;
  /** Hash of its content then, `null` when it was taken away. */
  readonly content: string | null;
}
