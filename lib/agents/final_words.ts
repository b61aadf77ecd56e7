import { signalLines, withoutEcho } from "../backlog/signals.ts";
import { createTurnOutput, KEPT_BYTES } from "./turn_output.ts";

/**
 * An agent's final words: all that it said since it last used a tool, or, where it said nothing after that, what it
 * said before. Each message is read by itself: a code fence that one leaves open hides nothing in the next.
 */
export interface FinalWords {
  say(text: string): void;
  /** A tool was used: what comes now replaces what came before. */
  act(): void;
  finish(): { readonly text: string; readonly lines: readonly string[] };
}

export function createFinalWords(prompt: string): FinalWords {
  let messages: string[] = [];
  let length = 0;
  let over = false;

  return {
    say(text) {
      if (text.trim() === "") return;
      if (over) {
        messages = [];
        length = 0;
        over = false;
      }
      messages.push(text);
      length += text.length;
      while (messages.length > 1 && length > KEPT_BYTES) length -= messages.shift()!.length;
    },
    act() {
      over = true;
    },
    finish() {
      const text = messages.join("\n\n");
      if (Buffer.byteLength(text) > KEPT_BYTES) return endOf(text, prompt);
      const lines = messages.flatMap((message) => signalLines(message, { prompt }));
      return { text: withoutEcho(text, prompt), lines: lines.slice(-2000) };
    },
  };
}

function endOf(text: string, prompt: string): { readonly text: string; readonly lines: readonly string[] } {
  const output = createTurnOutput({ prompt });
  output.push(Buffer.from(text));
  return output.finish();
}
