import type { AgentEvent, Translator } from "./adapter.ts";
import { JsonLines } from "./json_lines.ts";
import { type StreamSummary, StreamTally } from "./stream_summary.ts";
import type { TextSink } from "./turn_record.ts";
import { signalLines, withoutEcho } from "../backlog/signals.ts";
import { createTurnOutput, KEPT_BYTES } from "./turn_output.ts";

/** Invalid lines beyond this are counted, not reported. */
const INVALID_TOLD = 20;

/** Reads an agent's JSON stream: words, events and what they came to. */
export interface StreamReader extends TextSink {
  /** Call it after `finish()`. */
  summary(): StreamSummary;
}

export interface StreamReaderOptions {
  readonly translator: Translator;
  readonly prompt: string;
  readonly ignored?: readonly string[];
  readonly onEvent?: ((event: AgentEvent) => void) | undefined;
}

export function createStreamReader({ translator, prompt, ignored, onEvent }: StreamReaderOptions): StreamReader {
  const words = new FinalText(prompt);
  const summary = new StreamTally();
  let invalid = 0;

  function take(event: AgentEvent): void {
    summary.take(event);
    if (event.type === "agent-text") words.say(event.text);
    if (event.type === "agent-tool-call" || event.type === "agent-tool-result") words.act();
    onEvent?.(shortened(event));
  }

  const lines = new JsonLines({
    ...(ignored === undefined ? {} : { ignored }),
    take: (value) => {
      for (const event of translator.push(value)) take(event);
    },
    invalid: (reason, line) => {
      invalid += 1;
      if (invalid <= INVALID_TOLD) take({ type: "agent-line-invalid", reason, line });
    },
  });

  return {
    push: (chunk) => lines.push(chunk),
    finish() {
      lines.end();
      for (const event of translator.end?.() ?? []) take(event);
      if (invalid > INVALID_TOLD) {
        take({
          type: "agent-line-invalid",
          reason: `${invalid - INVALID_TOLD} more lines that are no events`,
          line: "",
        });
      }
      return words.finish();
    },
    summary: () => summary.read(),
  };
}

/** Long texts are in the transcript; an event is for a reader. */
const LONGEST_TEXT = 64 * 1024;

function shortened(event: AgentEvent): AgentEvent {
  if (event.type !== "agent-text" || event.text.length <= LONGEST_TEXT) return event;
  return { ...event, text: `…${event.text.slice(-LONGEST_TEXT)}` };
}

/**
 * An agent's final words: all that it said since it last used a tool, or, where it said nothing after that, what it
 * said before. Each message is read by itself: a code fence that one leaves open hides nothing in the next.
 */
class FinalText {
  readonly #prompt: string;
  #messages: string[] = [];
  #isOver = false;

  constructor(prompt: string) {
    this.#prompt = prompt;
  }

  say(text: string): void {
    if (text.trim() === "") return;
    if (this.#isOver) this.#messages = [];
    this.#isOver = false;
    this.#messages.push(text);
    let length = this.#messages.reduce((sum, message) => sum + message.length, 0);
    while (this.#messages.length > 1 && length > KEPT_BYTES) length -= this.#messages.shift()!.length;
  }

  /** A tool was used: what comes now replaces what came before. */
  act(): void {
    this.#isOver = true;
  }

  finish(): ReturnType<TextSink["finish"]> {
    const prompt = this.#prompt;
    const text = this.#messages.join("\n\n");
    if (Buffer.byteLength(text) <= KEPT_BYTES) {
      const lines = this.#messages.flatMap((message) => signalLines(message, { prompt }));
      return { text: withoutEcho(text, prompt), lines: lines.slice(-2000) };
    }
    const output = createTurnOutput({ prompt });
    output.push(Buffer.from(text));
    return output.finish();
  }
}
