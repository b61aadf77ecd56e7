import type { Redactor } from "./redact.ts";
import { SHORTEST_VALUE } from "./secrets.ts";
import type { EventBus, EventSink, RalphEvent } from "./types.ts";

/**
 * Hands each event to every sink, in the order in which they were attached. Output of processes is masked before it is
 * in an event; what a person or an agent wrote into a file (a title, a command) is masked here.
 */
export function createEventBus(sinks: readonly EventSink[], redactor: Pick<Redactor, "text">): EventBus {
  const attached = [...sinks];
  return {
    emit(event, lane) {
      const masked = maskedTexts(event, redactor) as RalphEvent;
      for (const sink of attached) sink.emit(masked, lane);
    },
    preview(preview) {
      for (const sink of attached) sink.preview?.(preview);
    },
    attach(sink) {
      attached.push(sink);
    },
  };
}

/** The same value where nothing in it is masked: an agent may say thousands of things a second. */
function maskedTexts(value: unknown, redactor: Pick<Redactor, "text">): unknown {
  if (typeof value === "string") return value.length < SHORTEST_VALUE ? value : redactor.text(value);
  if (typeof value !== "object" || value === null) return value;
  let copy: Record<string, unknown> | unknown[] | null = null;
  for (const key of Object.keys(value)) {
    const field = (value as Readonly<Record<string, unknown>>)[key];
    const masked = maskedTexts(field, redactor);
    if (masked === field) continue;
    copy ??= Array.isArray(value) ? [...value] : { ...value };
    (copy as Record<string, unknown>)[key] = masked;
  }
  return copy ?? value;
}
