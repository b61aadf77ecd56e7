/**
 * The events that a run reports. One union, versioned, written as NDJSON and shown by the reporters. Not yet stable.
 *
 * @module
 */
import type { RalphEvent } from "../generated/events.ts";

export type * from "../generated/events.ts";

/** Version of the event union. */
export const EVENTS_VERSION = 1;

/** An event of the agent's own stream. It claims nothing yet. */
export type AgentEvent = Extract<RalphEvent, { readonly type: `agent-${string}` }>;

/** Events within an iteration, of which those who follow a run from afar need none: an agent's own among them. */
export type DetailType =
  | AgentEvent["type"]
  | "landing-start"
  | "landing-end"
  | "turn-start"
  | "wait-delta"
  | "wait-end"
  | "check-start"
  | "check-end"
  | "experiments"
  | "hook-start"
  | "hook-end"
  | "sandbox"
  | "host-refused"
  | "state-restored"
  | "trespass"
  | "commit"
  | "steered"
  | "pause-start"
  | "pause-end"
  | "text"
  | "note";

/** An event of one type. */
export type EventOf<Type extends RalphEvent["type"]> = Extract<RalphEvent, { readonly type: Type }>;

/**
 * A fold over events as a table. A new type of event does not compile before it has its row, or is named among those
 * that the table passes over.
 */
export type EventRows<Rest extends readonly unknown[], Result, PassedOver extends RalphEvent["type"] = never> = {
  readonly [Type in Exclude<RalphEvent["type"], PassedOver>]: (event: EventOf<Type>, ...rest: Rest) => Result;
};

/** Calls the row of an event, if it has one. */
export function callRow<Rest extends readonly unknown[], Result>(
  rows: Partial<EventRows<Rest, Result>>,
  event: RalphEvent,
  ...rest: Rest
): Result | undefined {
  return (rows[event.type] as ((event: RalphEvent, ...rest: Rest) => Result) | undefined)?.(event, ...rest);
}

/** The end of what a running agent or check has printed so far, secrets masked: for the live view, never recorded. */
export type Preview = () => string;

/** Takes events. Never throws; must not hold the run up. */
export interface EventSink {
  /** `lane`: its item's place among those at work or landing, where items are worked on at once. */
  emit(event: RalphEvent, lane?: number): void;
  /** Given for what was started last, where that prints plain text; of use to sinks that show what is running. */
  preview?(preview: Preview): void;
}

/** A sink that others can be attached to. */
export interface EventBus extends EventSink {
  attach(sink: EventSink): void;
}
