import type { JudgingHistory } from "../backlog/journal_types.ts";
import type { Attempt, Item, TimeBudget } from "../backlog/types.ts";
import type { Captured } from "../git/fold.ts";

/** An attempt that is to be made on another machine. Plain JSON. */
export interface AttemptJob {
  readonly attempt: {
    /** The journal line's id, unique over all runs: also a run that takes this one over knows the attempt by it. */
    readonly id: string;
    /** At this item, from 1. */
    readonly number: number;
  };
  readonly item: Item;
  /** Commit that it begins with. */
  readonly base: string;
  /** Commit with what an earlier attempt left; `null`: nothing. */
  readonly left: string | null;
  /** The attempt before this one at the same item, and the last one at any item. */
  readonly previous: Attempt | null;
  readonly last: Attempt | null;
  /** Decides how old a file that judges is. */
  readonly judging: JudgingHistory;
  /** Commands that failed before the run's first turn. */
  readonly failedBefore: readonly string[];
  /** The item's own checks were all green before its first attempt; `null`: this is the first. */
  readonly greenBefore: boolean | null;
  /** An earlier attempt failed by its unseen check. */
  readonly unseenFailed: boolean;
  /** A person told the run this for the item (`ralph tell`), for its prompt; "": nothing. */
  readonly told: string;
  /** When the run's time is up; `null`: it has no such limit. */
  readonly budget: TimeBudget | null;
}

/** An attempt that was made on another machine. */
export interface MadeElsewhere {
  readonly attempt: Attempt;
  /** All that it changed, as a commit on its base, both of which this repository has; `null`: nothing. */
  readonly work: Captured | null;
}

/** Workers on other machines. */
export interface Elsewhere extends AsyncDisposable {
  /** True: the run may hand out one more attempt. It asks in any case for attempts that are out already. */
  readonly takesMore: boolean;
  /**
   * Has an attempt made; one that was handed out before is not made again. If no worker could, the attempt is `blocked`
   * and says why; if the signal aborts, `interrupted`.
   *
   * @param lane its events go there
   * @returns `null`: it is out, and a later run asks for it
   */
  attempt(job: AttemptJob, signal: AbortSignal, lane: number): Promise<MadeElsewhere | null>;
  /** An attempt was settled here: what the remote has of it is not needed any more. */
  settled(id: string): Promise<void>;
}
