import type { AdapterInvocation, AdapterOptions, Driver } from "../adapter.ts";
import { assistantEvents, completedEvents, startEvents, toolResultEvents } from "../claude_shape.ts";
import type { AgentEvent, Translator } from "../stream_item.ts";
import { failureEvents, failureKind, retryEvents } from "../failures.ts";
import { at, numberAt, textAt } from "../json.ts";

/** `qwen --yolo -o stream-json`: the prompt on standard input. */
function qwenArguments({ prompt, model }: AdapterOptions): AdapterInvocation {
  return {
    arguments: ["--yolo", "-o", "stream-json", ...(model === null ? [] : ["-m", model])],
    input: prompt,
    environment: { QWEN_CODE_SUPPRESS_YOLO_WARNING: "1", QWEN_CODE_NO_RELAUNCH: "true" },
  };
}

/** `qwen -i` in the terminal, with its own questions. */
function qwenInteractive({ prompt, model }: AdapterOptions): AdapterInvocation {
  return { arguments: [...(model === null ? [] : ["-m", model]), "-i", prompt], input: null };
}

/** Reads `qwen -o stream-json`: claude's shapes, but the input counts what came from the cache. */
function qwenTranslator(): Translator {
  let answer = "";

  return {
    push(line) {
      switch (textAt(line, "type")) {
        case "system":
          return systemEvents(line);
        case "assistant": {
          const events = assistantEvents(line).flatMap(withoutApiError);
          for (const event of events) if (event.type === "agent-text") answer = event.text;
          return events;
        }
        case "user":
          return toolResultEvents(line);
        case "result":
          return [usageEvent(line), ...endEvents(line, answer)];
        default:
          return [];
      }
    },
    end: () => [],
  };
}

/** A failed request comes as words of the assistant, too, even behind what was said before it. */
function withoutApiError(event: AgentEvent): readonly AgentEvent[] {
  if (event.type !== "agent-text") return [event];
  const text = event.text.replace(/\[API Error: [^\n]*\]\s*$/, "");
  return text.trim() === "" ? [] : [{ ...event, text }];
}

function systemEvents(line: unknown): readonly AgentEvent[] {
  switch (textAt(line, "subtype")) {
    case "init":
      return startEvents(line);
    case "retry": {
      const attempt = numberAt(line, "data", "attempt");
      const message = attempt === null
        ? "retry after a lost connection"
        : `retry ${attempt} of ${numberAt(line, "data", "maxRetries") ?? "?"}`;
      const waitMs = numberAt(line, "data", "delayMs");
      // It waits by itself for limits alone; without a delay the stream was cut.
      return retryEvents(waitMs === null ? "network" : "rate-limit", message, waitMs);
    }
    default:
      return [];
  }
}

function endEvents(line: unknown, answer: string): readonly AgentEvent[] {
  if (at(line, "is_error") !== true && (textAt(line, "subtype") ?? "success") === "success") {
    return completedEvents(textAt(line, "result"), answer);
  }
  const message = textAt(line, "error", "message") ?? textAt(line, "result") ?? "it gave no reason";
  return failureEvents(failureKind(message), message);
}

function usageEvent(line: unknown): AgentEvent {
  return {
    type: "agent-usage",
    scope: "total",
    usage: {
      inputTokens: numberAt(line, "usage", "input_tokens"),
      outputTokens: numberAt(line, "usage", "output_tokens"),
      cachedTokens: numberAt(line, "usage", "cache_read_input_tokens"),
      reasoningTokens: null,
      costUsd: null,
      estimated: false,
    },
  };
}

/** How `qwen` is called, and how its stream is read. */
export const DRIVER: Driver = {
  arguments: qwenArguments,
  interactive: qwenInteractive,
  translator: qwenTranslator,
  ignored: ['{"type":"stream_event"'],
  exitKind: (code) => code === 53 || code === 55 ? "own-limit" : null,
};
