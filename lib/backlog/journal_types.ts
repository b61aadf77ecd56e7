/**
 * The loop's own memory: every attempt, and every item that was begun and not settled. Append-only, one JSON line each.
 *
 * @module
 */
import type { EventNotice } from "../generated/events.ts";
import type { KeptPath } from "../git/kept.ts";
import type { Fold, OwnCommits } from "../git/repository.ts";
import type { Attempt, Item, ParkedItem, PassedRecord, Settlement } from "./types.ts";

/**
 * The lack in a run's verdict: of an unverified one checks that see every item, or only the claims of items with green
 * checks; of a run that stopped before its verdict the end.
 */
export type Lack = "checks" | "claims" | "end";

/** Which backlog a journal entry belongs to. */
export interface JournalKey {
  /** The backlog's `name`. */
  readonly backlog: string;
  /** The backlog's `scope`, or "". */
  readonly scope: string;
}

/** The known facts when an attempt begins; its id is unique over all runs. */
export type BegunAttempt = Pick<OpenItem, "apart" | "branch" | "head" | "number" | "userPaths"> & {
  readonly id: string;
};

/** The work that is about to be committed. */
export type SettlingWork = Pick<OpenItem, "fold" | "landing" | "work">;

/** An item that was begun and not settled: a run was killed. */
export interface OpenItem {
  /** As it was when it was begun. */
  readonly item: Item;
  /** The id of the attempt that did not end. */
  readonly attemptId: string;
  /** The number of that attempt at the item, from 1. */
  readonly number: number;
  /** The attempt, when it was known before the kill: settling had begun. */
  readonly attempt: Attempt | null;
  /** The paths that the attempt left uncommitted, with a hash of each file's content (`null`: taken away). */
  readonly work: Readonly<Record<string, string | null>>;
  /** Paths that were dirty before any turn of that run: the user's own. */
  readonly userPaths: readonly string[];
  /** The user's uncommitted work before the turn, by its paths. */
  readonly kept?: KeptRecord | undefined;
  /** It was worked on in a tree of its own. */
  readonly apart?: boolean | undefined;
  /** Its work was coming into the project's tree. */
  readonly landing?: JournalLanding | undefined;
  /** Commit before the turn, or the one of another item that has landed since; absent where it is not known. */
  readonly head?: string | null | undefined;
  /** Branch that it was begun on; `null`: a detached HEAD. Absent where it is not known. */
  readonly branch?: string | null | undefined;
  /** Commits that were to become part of the item's own when Ralph was stopped. */
  readonly fold?: Fold | undefined;
}

/** Uncommitted files, by paths relative to the top level; `codes`: of `git status`. */
export type KeptWork = Readonly<Record<string, KeptPath & { readonly codes: readonly string[] }>>;

/** The user's uncommitted work before a turn. */
export interface KeptRecord {
  /** Commit before the turn. */
  readonly head: string | null;
  readonly work: KeptWork;
}

/** The history that decides how old a file that judges is: all attempts since a run last passed. */
export interface JudgingHistory {
  /** Commit before the first of them; `null` where there was none. */
  readonly base: string | null;
  /** The steps that made files old since, in order: as the second commit has what differs, or only these paths of it. */
  readonly steps: readonly { readonly from: string; readonly to: string; readonly globs?: readonly string[] }[];
  /** The items that were attempted. */
  readonly items: readonly JudgedItem[];
}

/** An item by whose turns judging files may have changed. */
export interface JudgedItem {
  readonly id: string;
  /** Its title and criteria. */
  readonly text: string;
  /** Files that its turns changed, relative to the root. */
  readonly changed: readonly string[];
  /** The commit at which it passed last. */
  readonly passed?: string;
}

/** Reads and appends. Every append is one write of one line. */
export interface Journal {
  /** Reads what another process has written since: called when the run lock is held. */
  refresh(): Promise<void>;
  /** Since then something else has changed the file, which was undone. */
  readonly isFixed: boolean;
  /** Attempts at this item since it last passed, was parked, sent items back, or a run ended. Oldest first. */
  history(key: JournalKey, item: Item): readonly Attempt[];
  open(key: JournalKey): readonly OpenItem[];
  /** Items that were begun and not settled, of one backlog or of all, whatever the scope: known without reading the store. */
  interrupted(backlog?: string): readonly OpenItem[];
  parked(key: JournalKey): readonly ParkedItem[];
  /** Items that passed in some run, and were not sent back since. */
  passed(key: JournalKey): readonly PassedRecord[];
  /** The same in every backlog. */
  allPassed(): readonly PassedRecord[];
  /** The findings about a clean checkout before the first turn of the first run; `null` before that. */
  clean(key: JournalKey): CleanStart | null;
  /** Remembers what the tree had and its commit had not, before the first turn of the first run. */
  cleanStart(key: JournalKey, absent: readonly string[]): Promise<void>;
  /** Remembers whether a checkout can make a command; `why`: it cannot. */
  cleanFinding(key: JournalKey, command: string, why: string | null): Promise<void>;
  /** A person agrees to what changed: everything is found out anew. */
  forgetClean(key: JournalKey): Promise<void>;
  /** Items that the final check of this run sent back, and how often. */
  reopened(key: JournalKey): ReadonlyMap<string, Reopened>;
  /** Commit before the first attempt at the item since it last passed or was parked; `null` where it is not known. */
  start(key: JournalKey, itemId: string): string | null;
  /**
   * True if the item's own checks were all green before anything was done for it. `null`: they have not been run then,
   * or the item asked for something else.
   */
  baseline(key: JournalKey, item: Item): boolean | null;
  /** Records it, before the first turn at the item. */
  baselineTaken(key: JournalKey, item: Item, green: boolean): Promise<void>;
  /** Refs that keep what was left of items that were given up on, by their ids. */
  stowed(key: JournalKey): ReadonlyMap<string, Stowed>;
  stow(key: JournalKey, itemId: string, stowed: Stowed): Promise<void>;
  /** The attempts since a run last passed without a doubt. */
  judging(key: JournalKey): JudgingHistory;
  /** The paths that earlier attempts left uncommitted, and which item's they were. */
  leftovers(key: JournalKey): ReadonlyMap<string, Leftover>;
  /** A person's files that turns have changed since the last run that ended, by their paths. */
  overwritten(key: JournalKey): ReadonlyMap<string, Overwritten>;
  begun(key: JournalKey, item: Item, attempt: BegunAttempt): Promise<void>;
  /** Records what is the user's before a turn at an item that has begun. */
  kept(key: JournalKey, itemId: string, kept: KeptRecord): Promise<void>;
  settling(key: JournalKey, item: Item, attempt: Attempt, left: SettlingWork): Promise<void>;
  settled(key: JournalKey, item: Item, attempt: Attempt, end: SettledEnd): Promise<void>;
  /** The final check fails for these items: they have not passed. */
  reopen(key: JournalKey, ids: readonly string[], reason: string): Promise<void>;
  /** A person's words for items since a run last passed, oldest first, by their ids. */
  told(key: JournalKey): ReadonlyMap<string, readonly string[]>;
  /** The parked items among them that a person has said something for since. */
  answered(key: JournalKey): ReadonlySet<string>;
  tell(key: JournalKey, itemId: string, text: string): Promise<void>;
  /** These items are parked no more. @param ids default: all of them, for `--retry-blocked` */
  unpark(key: JournalKey, ids?: readonly string[]): Promise<void>;
  /**
   * `passed`: the run has passed as a whole. `head`: the commit at its end. `isDoubted`: the run named changes to what
   * judges it, and nobody agreed to them, so that later runs are still judged by what was there before.
   */
  runEnded(key: JournalKey, passed: boolean, head?: string | null, isDoubted?: boolean): Promise<void>;
  /** The notices in the last lines of the newest run with a turn, whichever backlog it was of; `null`: unknown. */
  named(): NamedByRun | null;
  /** Replaces it. */
  noticed(key: JournalKey, notices: readonly NoticeRecord[], lack?: Lack): Promise<void>;
  /** The brief of the newest run here, whichever backlog it was of; `ended`: the run ended in order. */
  lastBrief(): { readonly record: BriefRecord; readonly ended: boolean } | null;
  briefRead(key: JournalKey, record: BriefRecord): Promise<void>;
  briefRestored(key: JournalKey): Promise<void>;
}

/** A notice in a run's last lines beside its verdict. */
export type NoticeRecord = EventNotice;

/** The notices of a run. */
export interface NamedByRun extends JournalKey {
  readonly notices: readonly NoticeRecord[];
  /** The lack in its verdict, if it did not pass and nobody had agreed to that. */
  readonly lack?: Lack;
}

/** A hash of each file that judges a run, by its path; `null` for one that is absent. */
export interface BriefRecord {
  readonly files: Readonly<Record<string, string | null>>;
  /** Folders that were read as a whole: what is new in them is a change. */
  readonly folders: readonly string[];
}

/** The paths that a clean checkout lacks, and the commands that it cannot make therefore. */
export interface CleanStart {
  /** Paths relative to the top level. */
  readonly absent: readonly string[];
  /** Commands that were looked at. */
  readonly looked: Readonly<Record<string, true>>;
  /** The commands that have to be judged in the tree, with the reason. */
  readonly inTree: Readonly<Record<string, string>>;
}

/** The rest of an item that was given up on. */
export interface Stowed {
  readonly ref: string;
  /** It was brought back into the tree. */
  readonly isBack: boolean;
}

/** The outcome of settling. */
export interface SettledEnd {
  readonly settlement: Settlement;
  /** The paths that are still uncommitted afterwards. */
  readonly kept: Readonly<Record<string, string | null>>;
  /** A person's files that turns at the item have changed, by their paths. */
  readonly overwritten?: Readonly<Record<string, Found>> | undefined;
  /** The record of an item that passed. */
  readonly passed?: PassedRecord | undefined;
}

/** An item that the final check sent back. */
export interface Reopened {
  /** How often in this run. */
  readonly times: number;
  /** Why, the last time. */
  readonly reason: string;
}

/** From one commit to another that has an item's work as well. */
export interface JournalLanding {
  readonly tip: string;
  readonly commit: string;
  /** The turns' own commits; absent in older journals. */
  readonly own?: OwnCommits | undefined;
}

/** A person's uncommitted file as a run found it first. */
export interface Found {
  /** Hash of its content; `null`: it was gone. */
  readonly content: string | null;
  /** Ref that has it; `null`: it was not kept. */
  readonly ref: string | null;
}

/** The same of one that a turn at an item has changed, or that person meanwhile. */
export interface Overwritten extends Found {
  readonly itemId: string;
}

/** A file that an attempt changed and no one committed. */
export interface Leftover {
  readonly itemId: string;
  /** Hash of its content then, `null` when it was taken away. */
  readonly content: string | null;
}
