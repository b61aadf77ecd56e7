import type { JudgingHistory } from "../backlog/journal_types.ts";
import type { Attempt, Item, TimeBudget } from "../backlog/types.ts";
import type { Captured } from "../git/fold.ts";

/** An attempt that is to be made on another machine. Plain data but for the signal. */
export interface AttemptElsewhere {
  /** Of the journal's line: it says which attempt it is, also to who takes this run over. */
  readonly id: string;
  /** At this item, from 1. */
  readonly number: number;
  readonly item: Item;
  /** Commit that it begins with. */
  readonly base: string;
  /** Commit with what an earlier attempt left; `null`: nothing. */
  readonly left: string | null;
  readonly previous: Attempt | null;
  readonly last: Attempt | null;
  readonly judging: JudgingHistory;
  readonly failedBefore: readonly string[];
  readonly greenBefore: boolean | null;
  readonly unseenFailed: boolean;
  readonly budget: TimeBudget | null;
  readonly signal: AbortSignal;
}

/** An attempt that was made on another machine. */
export interface MadeElsewhere {
  readonly attempt: Attempt;
  /** All that it changed, as a commit on its base, both of which this repository has; `null`: nothing. */
  readonly work: Captured | null;
}

/** Workers on other machines. */
export interface Elsewhere extends AsyncDisposable {
  /**
   * Has an attempt made; one that was handed out before is not made again. Where no worker could, the attempt is `blocked`
   * and says why; where the signal aborts, `interrupted`.
   */
  attempt(attempt: AttemptElsewhere): Promise<MadeElsewhere>;
}
