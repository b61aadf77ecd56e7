import { addTurn, NO_USAGE, type UsageTotal } from "../backlog/usage.ts";
import { callRow, type DetailType, type EventRows, type RalphEvent } from "./types.ts";

/** How far a run has come, over all of its workers. */
export interface Tally {
  /** Milliseconds since 1970, of the first event. */
  readonly startedMs: number | null;
  /** Items passed in this loop, and all that are known. */
  readonly passed: number;
  readonly total: number | null;
  /** The usage of all turns that have ended. */
  readonly usage: UsageTotal;
}

/** Before the first event. */
export const EMPTY_TALLY: Tally = { startedMs: null, passed: 0, total: null, usage: NO_USAGE };

/** The tally after one more event; the same object if it changes nothing. Pure. */
export function nextTally(before: Tally, event: RalphEvent, now: number): Tally {
  const tally = before.startedMs === null ? { ...before, startedMs: now } : before;
  return callRow(ROWS, event, tally) ?? tally;
}

/** They count nothing. */
type PassedOver = DetailType | "run-end" | "step-start" | "step-end" | "wait-start" | "question" | "answer";

const ROWS: EventRows<readonly [tally: Tally], Tally, PassedOver> = {
  "run-start": (_event, tally) => ({ ...tally, passed: 0, total: null }),
  "iteration-start": ({ passed, total }, tally) => ({ ...tally, passed, total }),
  "iteration-end": ({ item, settlement, reopened = [] }, tally) => {
    const more = (settlement === "passed" && item.preparatory !== true ? 1 : 0) - reopened.length;
    return more === 0 ? tally : { ...tally, passed: Math.max(0, tally.passed + more) };
  },
  "items-reopened": ({ ids }, tally) => ({ ...tally, passed: Math.max(0, tally.passed - ids.length) }),
  "turn-end": ({ usage }, tally) => ({ ...tally, usage: addTurn(tally.usage, usage) }),
};
