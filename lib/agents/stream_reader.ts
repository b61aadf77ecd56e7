import type { AgentEvent, Translator } from "./stream_item.ts";
import { createFinalWords } from "./final_words.ts";
import { JsonLines } from "./json_lines.ts";
import { type StreamSummary, StreamTally } from "./stream_summary.ts";
import type { WordsSink } from "./turn_record.ts";

/** Invalid lines beyond this are counted, not reported. */
const INVALID_TOLD = 20;

/** Reads an agent's JSON stream: words, events and what they came to. */
export interface StreamReader extends WordsSink {
  /** Call it after `finish()`. */
  summary(): StreamSummary;
}

/** What a reader needs. */
export interface StreamReaderOptions {
  readonly translator: Translator;
  readonly prompt: string;
  readonly ignored?: readonly string[];
  readonly onEvent?: ((event: AgentEvent) => void) | undefined;
}

export function createStreamReader(
  { translator, prompt, ignored, onEvent }: StreamReaderOptions,
): StreamReader {
  const words = createFinalWords(prompt);
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
      for (const event of translator.end()) take(event);
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
