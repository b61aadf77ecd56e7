/**
 * The lives of the plan's tasks, read from git alone. Ralph compares each commit's plan with its parents' along the
 * real graph, so that merges, reverts and rebased branches report what they did, and nothing twice.
 *
 * @module
 */
import type { Task } from "../types.ts";

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

/** The plan as a commit holds it; empty if it holds none. */
export interface PlanVersion extends PlanCommit {
  readonly content: Buffer;
}

/** A moment of a task's life. */
export interface Moment {
  readonly commit: PlanCommit;
  /** Place in the order in which the history was read. */
  readonly order: number;
}

/** One rejection. */
export interface RejectionMoment extends Moment {
  readonly doneAt: string;
  readonly reason: string;
}

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

/** The end of a task's life so far. */
export type TaskOutcome = "pending" | "done" | "accepted" | "rejected" | "cancelled" | "decomposed";
