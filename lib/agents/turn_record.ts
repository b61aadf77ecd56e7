import { createRedactor, type Redactor } from "../events/redact.ts";
import { secretValues } from "../events/secrets.ts";
import { openAppender } from "../host/files.ts";
import type { Host } from "../host/types.ts";
import { createTurnOutput, type TurnOutput } from "./turn_output.ts";
import type { TurnRequest } from "../context/agent.ts";

/** Everything that a turn prints: into the transcript, masked, and the agent's own words on the side. */
export interface TurnRecord {
  /** The agent's own words. */
  words(chunk: Uint8Array): Promise<void>;
  /** Anything else it prints: standard error, what its tools say. */
  noise(chunk: Uint8Array): Promise<void>;
  /** Closes the transcript. */
  finish(): Promise<{ readonly text: string; readonly lines: readonly string[] }>;
  readonly redactor: Redactor;
}

/** What becomes of the bytes of standard output. */
export type WordsSink = Pick<TurnOutput, "push" | "finish">;

/** Opens the transcript of a turn; without a sink its output is plain text. @throws {RalphError} file-unwritable */
export async function openTurnRecord(host: Host, request: TurnRequest, sink?: WordsSink): Promise<TurnRecord> {
  const redactor = createRedactor(secretValues({ ...host.environment.variables, ...request.environment }));
  const transcript = await openAppender(request.transcript);
  const output = sink ?? createTurnOutput({ prompt: request.prompt });
  // Each stream has a masker of its own: the other one's bytes may fall between two halves of a secret.
  const words = redactor.stream();
  const noise = redactor.stream();

  async function write(bytes: Uint8Array): Promise<void> {
    if (bytes.length > 0) await transcript.write(bytes);
  }

  return {
    redactor,
    words(chunk: Uint8Array): Promise<void> {
      output.push(chunk);
      return write(words.push(chunk));
    },
    noise: (chunk: Uint8Array) => write(noise.push(chunk)),
    async finish() {
      try {
        await write(words.end());
        await write(noise.end());
      } finally {
        await transcript.close();
      }
      return output.finish();
    },
  };
}
