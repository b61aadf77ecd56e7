/** One unit of work for one fresh agent process. Complete: `work` and `judge` need it and the working tree, nothing else. */
export interface Item<Data = unknown> {
  readonly id: string;
  /** `story`, `topic`, `review`, `BUILD` … */
  readonly kind: string;
  readonly title: string;
  /** The values that its format calls tags, for `provider.route`. */
  readonly tags?: readonly string[];
  /** Its priority, where the format has one. */
  readonly priority?: number;
  /** Nothing else may be in flight while this is worked on: stages, reviews, completion. */
  readonly exclusive?: boolean;
  /** Globs, relative to the root, that it will change: two items that overlap are not in flight together. */
  readonly touches?: readonly string[];
  /** Takes no agent turn, only checks: counts against no limit. */
  readonly checksOnly?: boolean;
  /** Its turn judges the work of others: the agent follows the instruction files that there were when the run began. */
  readonly review?: boolean;
  /** Its turns commit nothing: their commits are taken off the branch and kept under a ref. @default true for a review */
  readonly commitsNothing?: boolean;
  /** Prepares work and proves nothing (taking a task apart, looking into an issue): its own end is no part of the run's verdict. */
  readonly preparatory?: boolean;
  /** Number by which hooks know the iteration, where the backlog counts across runs. @default the run's own count */
  readonly iteration?: number;
  /** The path of the turn's transcript, relative to the root. @default the run's folder */
  readonly transcript?: string;
  /** The criteria that it has to meet, in words: for a reviewer. */
  readonly criteria?: readonly string[];
  /** Globs of tests that it may change. @default what its criteria permit (`changesTests()`) */
  readonly changesTests?: readonly string[];
  /** An agent added it: its text grants nothing, also not by naming a file. */
  readonly isAdded?: boolean;
  /** Hash of what is asked for. Attempts at an item of the same id with another fingerprint are not counted. */
  readonly fingerprint?: string;
  /** Ids of items whose uncommitted leftovers are this one's: a part takes up what the whole left. */
  readonly continues?: readonly string[];
  /** JSON snapshot that `next()` took of the store; `settle` computes from it, never by counting in the store. */
  readonly data: Data;
}
