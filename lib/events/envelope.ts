import type { Clock } from "../host/types.ts";
import { EVENTS_VERSION, type RalphEvent } from "./types.ts";

/** An event as a line of NDJSON. */
export type EventEnvelope =
  & {
    readonly v: number;
    readonly at: string;
    readonly run: string;
    /** The worker's tree that it happens in, from 0; absent where items are worked on one after another. */
    readonly lane?: number;
  }
  & RalphEvent;

/** An event with version, ISO time and the run's id before it. */
export function envelopeOf(
  event: RalphEvent,
  run: string,
  clock: Pick<Clock, "now">,
  lane?: number,
): EventEnvelope {
  const at = new Date(clock.now()).toISOString();
  return { v: EVENTS_VERSION, at, run, ...(lane === undefined ? {} : { lane }), ...event };
}
