/**
 * From the bytes that an agent prints to its own words, in memory that does not grow with the output: only the end is
 * kept and decoded; of what came before, no more is known than whether a code fence is open.
 *
 * @module
 */
import { type Fence, fenceAfter } from "../backlog/fences.ts";
import { signalLines, withoutEcho } from "../backlog/signals.ts";
import { startOfCharacter } from "../host/tail.ts";
import { unstyledText } from "../host/terminal.ts";

/** How much of the end of an agent's words is kept, in bytes. */
export const KEPT_BYTES: number = 1024 * 1024;

/** Takes the bytes of an agent's standard output as they come. */
export interface TurnOutput {
  push(chunk: Uint8Array): void;
  /** The words so far. May be called once the stream has ended. */
  finish(): { readonly text: string; readonly lines: readonly string[] };
}

/** How much is kept, and what is left out. */
export interface TurnOutputOptions {
  /** The prompt of the turn: an echo of it is left out. @default "" */
  readonly prompt?: string;
  /** Bytes kept of the end. @default 1048576 */
  readonly keptBytes?: number;
}

/** Collects an agent's plain output. Any split of the same bytes into chunks gives the same words. */
export function createTurnOutput(options: TurnOutputOptions = {}): TurnOutput {
  const kept = options.keptBytes ?? KEPT_BYTES;
  const capacity = kept * 2;
  const buffer = Buffer.alloc(capacity);
  let length = 0;
  let fence: Fence = null;
  let midLine = false;

  /** Drops the first `count` bytes, but remembers what fence they leave open. */
  function drop(count: number): void {
    if (count <= 0) return;
    // The fence is known at a line's end only: a line that is cut in two is judged by its first part.
    fence = fenceAfter(fence, buffer.subarray(0, length), count, midLine);
    midLine = buffer[count - 1] !== 10;
    buffer.copyWithin(0, count, length);
    length -= count;
  }

  return {
    push(chunk: Uint8Array): void {
      for (let offset = 0; offset < chunk.length; offset += kept) {
        const part = chunk.subarray(offset, offset + kept);
        if (length + part.length > capacity) drop(length + part.length - kept);
        buffer.set(part, length);
        length += part.length;
      }
    },
    finish(): { text: string; lines: readonly string[] } {
      drop(length - kept);
      const bytes = buffer.subarray(0, length);
      const decoded = new TextDecoder().decode(midLine ? bytes.subarray(startOfCharacter(bytes)) : bytes);
      // a tool's colours or its progress may stand on the line of a signal: a terminal shows what comes behind `\r`
      const shown = (line: string): string => line.slice(line.lastIndexOf("\r", line.length - 2) + 1);
      const whole = unstyledText(decoded).split("\n").map(shown).join("\n");
      return {
        text: withoutEcho(whole, options.prompt ?? ""),
        lines: signalLines(whole, { prompt: options.prompt ?? "", fence, midLine }),
      };
    },
  };
}
