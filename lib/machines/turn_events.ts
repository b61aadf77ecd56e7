/**
 * The events of a worker's turn, as the coordinator shows and records them: begin and end of turns and checks, waits,
 * and twice a second what the agent does last.
 *
 * @module
 */
import { EVENT_SCHEMAS } from "../events/schema.ts";
import type { EventSink, RalphEvent } from "../events/types.ts";
import type { Clock } from "../host/types.ts";
import type { Engine } from "./engine.ts";

/** Each of these is reported, in order. */
const WHOLE = ["turn-start", "turn-end", "check-start", "check-end", "wait-start", "wait-end"] as const;
/** Only the last one of these in a while is reported. */
const LATEST = ["agent-text", "agent-tool-call", "agent-file-change", "agent-usage", "agent-rate-limit"] as const;
const PAUSE_MS = 500;
/** The most characters of a text. */
const MOST_CHARACTERS = 500;

function isOneOf<Type extends string>(types: readonly Type[], type: string): type is Type {
  return (types as readonly string[]).includes(type);
}

export interface TurnReporterOptions {
  readonly engine: Pick<Engine, "report">;
  readonly clock: Clock;
  /** Ids of the jobs at work, by their lanes. */
  readonly atWork: ReadonlyMap<number, string>;
}

/** Takes a worker's events, masked as they are, and reports those that others want to see. Never fails a turn. */
export function turnReporter({ engine, clock, atWork }: TurnReporterOptions): EventSink {
  const latest = new Map<string, RalphEvent>();
  let sending: Promise<void> = Promise.resolve();
  const send = (id: string, events: readonly RalphEvent[]): void => {
    sending = sending.then(() => engine.report(id, events.map(shortened))).catch(() => {}); // a look on, no more
  };
  const flush = (id: string): readonly RalphEvent[] => {
    const event = latest.get(id);
    latest.delete(id);
    return event === undefined ? [] : [event];
  };
  return {
    emit(event, lane = 0) {
      const id = atWork.get(lane);
      if (id === undefined) return;
      if (isOneOf(WHOLE, event.type)) return send(id, [...flush(id), event]);
      if (!isOneOf(LATEST, event.type)) return;
      const isPending = latest.has(id);
      latest.set(id, event);
      if (!isPending) void clock.sleep(PAUSE_MS).then(() => send(id, flush(id)));
    },
  };
}

/** An event as another machine has reported it; `null`: it is none of those that are. Pure. */
export function turnEvent(value: unknown): RalphEvent | null {
  const type = typeof value === "object" && value !== null && "type" in value ? String(value.type) : "";
  if (!isOneOf([...WHOLE, ...LATEST], type)) return null;
  const read = EVENT_SCHEMAS[type].safeParse(value);
  return read.success ? read.data as unknown as RalphEvent : null;
}

/** Its texts cut at a length that a notice takes. Pure. */
function shortened(event: RalphEvent): object {
  const short = (value: unknown): unknown =>
    typeof value === "string" && value.length > MOST_CHARACTERS ? `${value.slice(0, MOST_CHARACTERS)}…` : value;
  return Object.fromEntries(Object.entries(event).map(([key, value]) => [key, short(value)]));
}
