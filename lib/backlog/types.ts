/**
 * Backlog and loop: the types. All that crosses a function here is plain JSON, but for `Check.run` and `Work.prompt`.
 * Not yet stable: `BACKLOG_VERSION` changes with them.
 *
 * @module
 */

import type { Check, CommandCheck, Verification } from "./check_types.ts";
import type { ClaimLine } from "./claims.ts";
import type { Repository } from "../git/repository.ts";
import type { Item } from "./item.ts";
import type { Overview } from "./overview.ts";
import type { StandardSchema } from "./schema.ts";
import type { StateFiles } from "./state_files.ts";
import type { Turn, TurnFailure, TurnRecord } from "./turn_types.ts";

export type * from "./check_types.ts";
export type * from "./item.ts";
export type * from "./overview.ts";
export type * from "./turn_types.ts";

/** Version of the `Backlog` interface. */
export const BACKLOG_VERSION = 2;

/** The next offer of the backlog. */
export type Next<Data> =
  | { readonly status: "item"; readonly item: Item<Data> }
  /** Everything that is ready depends on what is in flight. */
  | { readonly status: "waiting" }
  /** Nothing is left. The loop computes the verdict. */
  | { readonly status: "done"; readonly summary?: string }
  /** `givenUp`: how many items the store itself keeps from being taken up; `--retry-blocked` asks them back. @default 0 */
  | { readonly status: "blocked"; readonly reasons: readonly string[]; readonly givenUp?: number };

/** The steps of one iteration; read in full before the turn starts. */
export interface Work {
  /** `null`: no agent turn, only the checks. A function gets the result of `checkFirst`. */
  readonly prompt: string | ((first: Verification | null) => string) | null;
  readonly checks: readonly Check[];
  /** Run the checks before the turn as well. */
  readonly checkFirst?: boolean;
  /** Globs, relative to the root, that the turn may write; anything else stops the run. Absent: anything but protected files. */
  readonly allow?: readonly string[];
  /** Milliseconds for the agent's turn. */
  readonly timeoutMs?: number;
  /** Hand the terminal to the agent. */
  readonly interactive?: boolean;
  /** Added to the agent's environment. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** The agent's word about the turn, only ever a claim. `findings` is the workflow's: learnings, resets, summary. */
export type Claim<Findings = unknown> =
  & { readonly findings?: Findings }
  & (
    | { readonly status: "done" }
    | { readonly status: "not-done"; readonly reason?: string }
    | { readonly status: "failed"; readonly reason: string }
    | { readonly status: "blocked"; readonly reason: string }
  );

/** Why an attempt failed. */
export type FailureReason =
  | TurnFailure
  | "checks-failed"
  | "protected-file-changed"
  | "checks-not-believed"
  | "history-rewritten"
  | "deleted-by-person"
  | "conflict"
  | "commit-refused";

/** Something about an attempt that its green checks do not show. */
export interface Doubt {
  /**
   * `weak-checks`: a wrong implementation passes them. `challenge`: an unseen check differs, or something was not tried.
   * `not-claimed`: the agent did not say that it was done, so that the attempt is unverified.
   */
  readonly kind: "weak-checks" | "challenge" | "not-claimed";
  /** Its description. */
  readonly message: string;
}

/** The known facts about one attempt. JSON: it can be computed on another machine. */
export type Attempt<Findings = unknown> =
  & {
    /** `<run>.<iteration>` */
    readonly id: string;
    /** 1 + attempts at this item since it last passed, was parked, or the run ended. */
    readonly number: number;
    readonly claim: Claim<Findings> | null;
    readonly turn: TurnRecord | null;
    readonly verification: Verification | null;
    /** The item has no attempt left: park it. Set by the loop from the backlog's `retries`. */
    readonly last?: boolean;
    /** The item's own checks passed before its first attempt, so that they prove nothing. */
    readonly greenBefore?: boolean;
    /** The doubts about work whose checks passed. */
    readonly doubts?: readonly Doubt[];
    /** How its work came onto the branch; absent where it was worked on in the project's own tree. */
    readonly landing?: {
      /** The commits that it began on, and came onto. */
      readonly base: string;
      readonly tip: string;
      /** Its checks ran once more, on both together. */
      readonly checkedAgain: boolean;
      /** Conflicts with what was merged meanwhile, each of which cost a turn. */
      readonly conflicts: number;
      /** Ids of items that were checked in the same tree. */
      readonly with?: readonly string[];
    };
  }
  & (
    | { readonly status: "verified" | "unverified" }
    | { readonly status: "not-done"; readonly message: string }
    | { readonly status: "failed"; readonly reason: FailureReason; readonly message: string }
    | { readonly status: "blocked"; readonly message: string }
    /** Ralph was stopped or killed; nothing is known. */
    | { readonly status: "interrupted" }
    /** Wrote outside `allow`. */
    | { readonly status: "trespassed"; readonly paths: readonly string[]; readonly diff: string }
    | { readonly status: "agent-unusable"; readonly message: string }
  );

/** A commit that the loop makes after `settle`: state and, where asked, what the turn left uncommitted. */
export interface SettleCommit {
  /** `feat: US-001 - Add login` */
  readonly subject: string;
  /** Used where the commit holds nothing but state. @default subject */
  readonly stateSubject?: string;
  readonly body?: string;
  /** State files, relative to the root. */
  readonly paths: readonly string[];
  /** Also commit what the turn changed and left uncommitted (never what was dirty before it). */
  readonly work: boolean;
}

/** The backlog's decision about an attempt. The loop owns the verdict, retries and limits. */
export type Settlement =
  & {
    readonly commit?: SettleCommit;
    /** The turn brought nothing, although files changed: state that Ralph itself keeps. */
    readonly idle?: boolean;
    /** The ref that keeps what turns at the item left: set by the loop. */
    readonly stowed?: string;
    /** Ids of items that had passed and come again because of this one: what a review sends back. */
    readonly reopened?: readonly string[];
  }
  & (
    | { readonly status: "passed" }
    /** Comes again from `next()`. */
    | { readonly status: "open"; readonly reason?: string }
    /** Given up on; the others continue. */
    | { readonly status: "parked"; readonly reason: string }
    | { readonly status: "stop"; readonly as: "failed" | "blocked"; readonly reason: string }
  );

/** Attempts that an item is given in all, by the attempt that just failed. */
export type RetryPolicy<Data, Findings> = { count(attempt: Attempt<Findings>, item: Item<Data>): number }["count"];

/** How a backlog's items are tried, committed and checked at the end. */
export interface BacklogPolicy<Data = unknown, Findings = unknown> {
  /**
   * Attempts that an item is given, or a function of the attempt that just failed and its item.
   * @default `maxRetries` of the configuration
   */
  readonly retries?: number | RetryPolicy<Data, Findings>;
  /** One commit an item: what its turns committed becomes part of it. @default true */
  readonly squash?: boolean;
  /** The state is committed after an attempt that did not pass, too. @default false */
  readonly attempts?: boolean;
  /** `false`: nothing is built, so that a run ends without a final check and says nothing about HEAD. @default true */
  readonly final?: boolean;
}

/** The request of a person. */
export interface BacklogBrief {
  /** In a line, for last lines and reports. @default nothing is said */
  readonly goal?: string | null;
  /** The branch to work on, created or switched to when the run starts. @default the current one */
  readonly branch?: string | null;
  /** A hash of all that is asked for, whatever has passed: a branch on which it differs holds another backlog. */
  readonly fingerprint?: string;
  /**
   * Files beside the state that say what is asked for (plans, the current spec), relative to the root, whether they
   * exist or not: restored when a turn has changed them.
   */
  readonly files?: readonly string[];
}

/** A point of a run that a store may have a field for. */
export type Milestone<Data = unknown> =
  /** A run begins, and what a killed one left is settled: close what else it left open. */
  | { readonly type: "run-began" }
  /** A person has said something to items that were given up on: they are offered again. */
  | { readonly type: "items-told"; readonly ids: readonly string[] }
  /** The item is in progress. */
  | { readonly type: "item-began"; readonly item: Item<Data> }
  /**
   * The work of an attempt that did not pass is in the tree at `root` again: take out what would call the item complete.
   * The answer's `paths` are the files that are gone.
   */
  | { readonly type: "work-returned"; readonly item: Item<Data>; readonly root: string; readonly attemptId: string }
  /** An item passed, and its work is in this commit. The written text becomes part of the next commit of state. */
  | { readonly type: "item-committed"; readonly item: Item<Data>; readonly commit: string }
  /** The run has its verdict, and everything has passed. */
  | { readonly type: "run-passed"; readonly verdict: "verified" | "unverified" };

/** An item that was given up on, as the journal remembers it. */
export interface ParkedItem {
  /** The item's. */
  readonly id: string;
  /** As the item had it: with another text it is open again. */
  readonly fingerprint: string | null;
  /** Why it was given up on. */
  readonly reason: string;
}

/** A command that an item was checked by. */
export type RecordedCheck = Pick<CommandCheck, "name" | "command" | "scope" | "expect">;

/** An item that passed, as the journal remembers it. */
export interface PassedRecord {
  /** The item's. */
  readonly id: string;
  /** The item's. */
  readonly kind: string;
  /** As the item had it. */
  readonly fingerprint: string | null;
  /** `unverified`: no check has seen it, its agent did not claim it, or the unseen check failed. */
  readonly status: "verified" | "unverified";
  /** The commit at which it passed; `null` before the first one. */
  readonly commit: string | null;
  /** The commit that its work began on; absent where that is not known. */
  readonly since?: string;
  /** The commands that it was checked by. */
  readonly checks: readonly RecordedCheck[];
  /** Its checks were green, and its agent did not say that it was done. */
  readonly unclaimed?: boolean;
  /** A run has passed as a whole since. */
  readonly closed?: boolean;
}

/** An item that the store calls passed, with what it is checked by now. */
export interface PassedItem extends Pick<Item, "fingerprint" | "id" | "title"> {
  /** Its own checks and those that hold for every item. */
  readonly checks: readonly Check[];
}

/** The journal's answers for a backlog whose format has no room for them. */
export interface LoopView {
  /** Parked earlier, and not asked back with `--retry-blocked`. */
  readonly parked: readonly ParkedItem[];
  /** Passed in some run, and not sent back since. */
  readonly passed?: readonly PassedRecord[];
}

/** The context of `work` and `judge` beside the item. */
export interface WorkContext<Findings = unknown> {
  /** The item's working tree, which may be a worktree: never close over another. */
  readonly cwd: string;
  readonly attempt: number;
  /** The attempt before this one at the same item. */
  readonly previous: Attempt<Findings> | null;
  /** The last attempt at any item. */
  readonly last: Attempt<Findings> | null;
  /** The mark that signals that speak for passing carry in this attempt: prompts name it, judges ask for it. */
  readonly nonce: string;
  /** The requests of the turn by `ralph task …`, `issue …`, `step …`; none before the turn. */
  readonly claims: readonly ClaimLine[];
  /** The repository of `cwd`, with state files as the turn left them. Absent: `work()` gives its checks alone. */
  readonly repository?: Repository | null;
  readonly state?: StateFiles;
}

/** The context of `judge`. */
export interface JudgeContext<Findings = unknown> extends WorkContext<Findings> {
  /**
   * The item has checks of its own that were not all green before its first attempt, and the agent may leave the claim
   * out (`provider.claims`): the checks alone decide, and what they pass is unverified unless claims are optional.
   */
  readonly checked: boolean;
}

/**
 * A list of work on disk, and all that the loop needs to know of it.
 * The published contract test (`ralph/testing`, `backlogContract`) says what each call owes.
 */
export interface Backlog<Data = unknown, Findings = unknown> {
  /** `exec`, `feature`, `todo` … Part of the journal's key. */
  readonly name: string;
  /** Feature, sprint, file: separates two backlogs of one kind in the journal. @default the branch, or "" */
  readonly scope?: string;
  /** Files that only Ralph writes, relative to the root: restored after each turn. */
  readonly stateFiles: readonly string[];
  /** The worth of a claim when there is no check at all. */
  readonly unverified: "accept" | "block";
  /** Items that are in flight together may be settled in any order. @default false */
  readonly concurrent?: boolean;
  /** How items are tried, committed and checked at the end, where the configuration does not say. */
  readonly policy?: BacklogPolicy<Data, Findings>;
  /** Files beside the state that Ralph writes, relative to the root: no one's uncommitted work. @default none */
  readonly ownFiles?: readonly string[];
  /** The folder that run folders go to, relative to the root. @default ".ralph/runs" */
  readonly runsDirectory?: string;
  /** The request of a person. Called when a run begins, and by commands that show a run. */
  brief?(): Promise<BacklogBrief>;

  // The coordinator's side: these alone touch the store, and each is idempotent.

  /** Counts, for `ralph status`, `gateRun()` and the live view. */
  overview(view: LoopView): Promise<Overview>;
  next(options: LoopView & { readonly inFlight: readonly string[] }): Promise<Next<Data>>;
  /**
   * The items that the store calls passed, each with its checks: the final check, `ralph verify` and the verdict rest
   * on it.
   * @default the items that passed in this run
   */
  passed?(view: LoopView): Promise<readonly PassedItem[]>;
  /**
   * Items that had passed fail the final check and come again.
   * @default the run has failed
   */
  reopen?(ids: readonly string[], reason: string): Promise<Settlement>;
  /** Record how far the run is, where the format has room for it. The same call twice is once. */
  record?(milestone: Milestone<Data>): Promise<SettleCommit | void>;
  /** Record the outcome. Called again with the same attempt after a crash: the result must be the same. */
  settle(item: Item<Data>, attempt: Attempt<Findings>): Promise<Settlement>;
  /** Applies what commands outside of a turn added while a run is at work. Called between turns; the same twice is once. */
  receive?(claims: readonly ClaimLine[]): Promise<void>;

  // The worker's side: item and working tree only.

  /** Prompt, checks, allowed paths, time. Checks are thereby read before the turn. */
  work(item: Item<Data>, context: WorkContext<Findings>): Promise<Work>;
  /**
   * Reads the claims in the agent's output and in manual edits. State files still hold the agent's version when this
   * runs.
   * @default done where the item's own checks decide (`checked`) and the turn changed more than state, or at
   * `<ralph>DONE</ralph>`
   */
  judge?(item: Item<Data>, turn: Turn, context: JudgeContext<Findings>): Promise<Claim<Findings>>;
  /**
   * The schema of `findings` in a claim: attempts that another machine made are read by it, and an attempt whose
   * findings do not fit is not used.
   * @default claims from other machines have none
   */
  findings?(): StandardSchema<Findings> | Promise<StandardSchema<Findings>>;
}
