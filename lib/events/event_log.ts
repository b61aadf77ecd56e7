import { openAppender } from "../host/files.ts";
import type { Clock } from "../host/types.ts";
import { envelopeOf } from "./envelope.ts";
import type { EventSink } from "./types.ts";

/** A sink that writes NDJSON to a file. */
export interface EventLog extends EventSink {
  /** Waits for what was emitted. @throws {RalphError} file-unwritable when a write had failed */
  close(): Promise<void>;
}

/** Where an event log writes. */
export interface EventLogOptions {
  /** Absolute path. */
  readonly file: string;
  /** The run's id. */
  readonly run: string;
  readonly clock: Clock;
}

/** Opens a run's event log. Writes follow one another; no one waits for them before `close()`. */
export async function createEventLog({ file, run, clock }: EventLogOptions): Promise<EventLog> {
  const appender = await openAppender(file);
  const encoder = new TextEncoder();
  let pending: Promise<void> = Promise.resolve();
  let failure: unknown = null;
  return {
    emit(event) {
      const line = `${JSON.stringify(envelopeOf(event, run, clock))}\n`;
      pending = pending.then(() => appender.write(encoder.encode(line))).catch((error: unknown) => {
        failure ??= error;
      });
    },
    async close() {
      await pending;
      await appender.close();
      if (failure !== null) throw failure;
    },
  };
}
