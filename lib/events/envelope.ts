import type { Clock } from "../host/types.ts";
import { EVENTS_VERSION, type RalphEvent } from "./types.ts";

/** An event as a line of NDJSON. */
export type EventEnvelope = { readonly v: number; readonly at: string; readonly run: string } & RalphEvent;

/** An event with version, ISO time and the run's id before it. */
export function envelopeOf(event: RalphEvent, run: string, clock: Pick<Clock, "now">): EventEnvelope {
  return { v: EVENTS_VERSION, at: new Date(clock.now()).toISOString(), run, ...event };
}
