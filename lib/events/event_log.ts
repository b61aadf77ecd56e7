import { openAppender } from "../host/files.ts";
import type { Clock } from "../host/types.ts";
import { EVENTS_VERSION, type EventSink, type RalphEvent } from "./types.ts";
import { volumeOf } from "./volume.ts";

/** A sink that writes NDJSON to a file. */
export interface EventLog extends EventSink {
  /** Waits for what was emitted. @throws {RalphError} file-unwritable when a write had failed */
  close(): Promise<void>;
}

export interface EventLogOptions {
  /** Absolute path. */
  readonly file: string;
  /** The run's id. */
  readonly run: string;
  readonly clock: Clock;
}

/** The log holds so many characters of the end of an agent's words: all of them are in the transcript. */
const LONGEST_WORDS = 500;

/** The log takes an agent's words and acts so often at once, then so often a second, as a reader can follow. */
const MOST_AT_ONCE = 1000;
const MOST_A_SECOND = 20;

/**
 * Opens a run's event log. It holds whatever Ralph does; what an agent says, shortened, and, where an agent floods its
 * stream, not each of its words: the transcript holds them.
 */
export async function createEventLog({ file, run, clock }: EventLogOptions): Promise<EventLog> {
  const appender = await openAppender(file);
  const encoder = new TextEncoder();
  const isFlood = createFloodGate(clock);
  let failure: unknown = null;
  return {
    emit(event, lane) {
      if (failure !== null || volumeOf(event) === "flood" && isFlood()) return;
      try {
        if (event.type === "turn-end") appender.keep(); // a turn may have cleaned the tree, ignored files included
        const line = JSON.stringify(envelopeOf(shortened(event), run, clock, lane));
        appender.write(encoder.encode(`${line}\n`));
      } catch (error) {
        failure ??= error;
      }
    },
    async close() {
      await appender.close();
      if (failure !== null) throw failure;
    },
  };
}

/** True where one more would be too many. */
function createFloodGate(clock: Pick<Clock, "now">): () => boolean {
  let left = MOST_AT_ONCE;
  let since = clock.now();
  return () => {
    const now = clock.now();
    left = Math.min(MOST_AT_ONCE, left + Math.max(0, now - since) / 1000 * MOST_A_SECOND);
    since = now;
    if (left < 1) return true;
    left -= 1;
    return false;
  };
}

function shortened(event: RalphEvent): RalphEvent {
  if (event.type !== "agent-text" || event.text.length <= LONGEST_WORDS) return event;
  return { ...event, text: `…${event.text.slice(-LONGEST_WORDS)}` };
}

/** An event as a line of NDJSON. */
export type EventEnvelope =
  & {
    readonly v: number;
    readonly at: string;
    readonly run: string;
    /** Its item's place among those at work or landing, from 0; absent where items are worked on one after another. */
    readonly lane?: number;
  }
  & RalphEvent;

/** An event with version, ISO time and the run's id before it. */
export function envelopeOf(event: RalphEvent, run: string, clock: Pick<Clock, "now">, lane?: number): EventEnvelope {
  const at = new Date(clock.now()).toISOString();
  return { v: EVENTS_VERSION, at, run, ...(lane === undefined ? {} : { lane }), ...event };
}
