import { openLog } from "../host/log_file.ts";
import { createTurnOutput, type TurnOutput } from "./turn_output.ts";
import type { TurnRequest } from "../context/context.ts";

/** Everything that a turn prints, secrets masked: into the transcript, and the agent's own words on the side. */
export interface TurnRecord {
  /** The agent's own words. */
  words(chunk: Uint8Array): void | Promise<void>;
  /** Anything else it prints: standard error, what its tools say. */
  noise(chunk: Uint8Array): void | Promise<void>;
  /** Closes the transcript. */
  finish(): Promise<{ readonly text: string; readonly lines: readonly string[] }>;
}

/** The sink for the bytes of standard output. */
export type TextSink = Pick<TurnOutput, "push" | "finish">;

/** Characters of plain text that become events in one turn: all of it is in the transcript. */
const MOST_SHOWN = 256 * 1024;

/** Plain output as messages of the agent: whole lines, as they come, until there were too many of them. */
function plainText({ onEvent, transcript }: TurnRequest): { push(chunk: Uint8Array): void; end(): void } {
  const decoder = new TextDecoder();
  let rest = "";
  let left = MOST_SHOWN;
  function show(text: string): void {
    if (text.trim() === "" || left < 0) return;
    left -= text.length;
    onEvent?.({ type: "agent-text", text: left < 0 ? `… the rest is in ${transcript}` : text });
  }
  return {
    push(chunk) {
      if (onEvent === undefined || left < 0) return;
      const text = rest + decoder.decode(chunk, { stream: true });
      const end = text.length > MOST_SHOWN ? text.length : text.lastIndexOf("\n") + 1;
      rest = text.slice(end);
      show(text.slice(0, end));
    },
    end: () => show(rest),
  };
}

/** Opens the transcript of a turn; without a sink its output is plain text, and its messages. @throws {RalphError} file-unwritable */
export async function openTurnRecord(request: TurnRequest, sink?: TextSink): Promise<TurnRecord> {
  const transcript = await openLog(request.transcript);
  const output = sink ?? createTurnOutput({ prompt: request.prompt });
  const plain = sink === undefined ? plainText(request) : null;
  return {
    words(chunk: Uint8Array): void | Promise<void> {
      output.push(chunk);
      plain?.push(chunk);
      return transcript.write(chunk);
    },
    noise: (chunk: Uint8Array) => transcript.write(chunk),
    async finish() {
      plain?.end();
      await transcript.close();
      return output.finish();
    },
  };
}
