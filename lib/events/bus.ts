import { mapTexts } from "../host/data.ts";
import { type Redactor, SHORTEST_VALUE } from "./redact.ts";
import type { EventBus, EventSink, RalphEvent } from "./types.ts";

/**
 * Hands each event to every sink, in the order in which they were attached. Output of processes is masked before it is
 * in an event; what a person or an agent wrote into a file (a title, a command) is masked here.
 */
export function createEventBus(sinks: readonly EventSink[], redactor: Pick<Redactor, "text">): EventBus {
  const attached = [...sinks];
  return {
    emit(event, lane) {
      const masked = mapTexts(event, (text) => text.length < SHORTEST_VALUE ? text : redactor.text(text)) as RalphEvent;
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
