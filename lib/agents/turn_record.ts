import { openAppender } from "../host/files.ts";
import { createTurnOutput, type TurnOutput } from "./turn_output.ts";
import type { TurnRequest } from "../context/agent.ts";

/** Everything that a turn prints, secrets masked: into the transcript, and the agent's own words on the side. */
export interface TurnRecord {
  /** The agent's own words. */
  words(chunk: Uint8Array): void | Promise<void>;
  /** Anything else it prints: standard error, what its tools say. */
  noise(chunk: Uint8Array): void | Promise<void>;
  /** Closes the transcript. */
  finish(): Promise<{ readonly text: string; readonly lines: readonly string[] }>;
}

/** What becomes of the bytes of standard output. */
export type TextSink = Pick<TurnOutput, "push" | "finish">;

/** Opens the transcript of a turn; without a sink its output is plain text. @throws {RalphError} file-unwritable */
export async function openTurnRecord(request: TurnRequest, sink?: TextSink): Promise<TurnRecord> {
  const transcript = await openAppender(request.transcript);
  const output = sink ?? createTurnOutput({ prompt: request.prompt });
  return {
    words(chunk: Uint8Array): void | Promise<void> {
      output.push(chunk);
      return transcript.write(chunk);
    },
    noise: (chunk: Uint8Array) => transcript.write(chunk),
    async finish() {
      await transcript.close();
      return output.finish();
    },
  };
}
