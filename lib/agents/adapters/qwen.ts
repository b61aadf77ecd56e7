import { type AgentEvent, callsOf, type Driver } from "../adapter.ts";
import { assistantEvents, completedEvents, isSuccess, startEvents, toolResultEvents } from "../claude_shape.ts";
import { failedEvents, readByType, tokensAt, usageEvent } from "../events.ts";
import { retryEvents } from "../failures.ts";
import { at, numberAt, textAt } from "../json.ts";

/** A failed request comes as words of the assistant, too, even behind what was said before it. */
function withoutApiError(event: AgentEvent): readonly AgentEvent[] {
  if (event.type !== "agent-text") return [event];
  const text = event.text.replace(/\[API Error: [^\n]*\]\s*$/, "");
  return text.trim() === "" ? [] : [{ ...event, text }];
}

function systemEvents(line: unknown): readonly AgentEvent[] {
  if (textAt(line, "subtype") !== "retry") return startEvents(line);
  const attempt = numberAt(line, "data", "attempt");
  const message = attempt === null
    ? "retry after a lost connection"
    : `retry ${attempt} of ${numberAt(line, "data", "maxRetries") ?? "?"}`;
  const waitMs = numberAt(line, "data", "delayMs");
  // It waits by itself for limits alone; without a delay the stream was cut.
  return retryEvents(waitMs === null ? "network" : "rate-limit", message, waitMs);
}

function usageAt(scope: "step" | "total", usage: unknown): AgentEvent {
  return usageEvent(scope, tokensAt(usage, ["input_tokens", "output_tokens", "cache_read_input_tokens"]));
}

/** A turn that is ended has no result line. */
function stepUsage(usage: unknown): readonly AgentEvent[] {
  return usage === undefined ? [] : [usageAt("step", usage)];
}

function endEvents(line: unknown, answer: string): readonly AgentEvent[] {
  const end = isSuccess(line)
    ? completedEvents(textAt(line, "result"), answer)
    : failedEvents(textAt(line, "error", "message") ?? textAt(line, "result"));
  return [usageAt("total", at(line, "usage")), ...end];
}

/** `qwen --yolo -o stream-json`: claude's shapes, but the input counts what came from the cache. */
export const DRIVER: Driver = {
  ...callsOf({
    first: ["--yolo", "-o", "stream-json"],
    model: "-m",
    environment: { QWEN_CODE_SUPPRESS_YOLO_WARNING: "1", QWEN_CODE_NO_RELAUNCH: "true" },
    terminal: ["-i"],
  }),
  translator: () =>
    readByType({
      system: systemEvents,
      assistant: (line) => [
        ...assistantEvents(line).flatMap(withoutApiError),
        ...stepUsage(at(line, "message", "usage")),
      ],
      user: toolResultEvents,
      result: endEvents,
    }),
  ignored: ['{"type":"stream_event"'],
  exitKind: (code) => code === 53 || code === 55 ? "own-limit" : null,
};
