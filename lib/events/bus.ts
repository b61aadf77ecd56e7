import type { EventBus, EventSink } from "./types.ts";

/** Hands each event to every sink, in the order in which they were attached. */
export function createEventBus(sinks: readonly EventSink[] = []): EventBus {
  const attached = [...sinks];
  return {
    emit(event) {
      for (const sink of attached) sink.emit(event);
    },
    preview(preview) {
      for (const sink of attached) sink.preview?.(preview);
    },
    attach(sink) {
      attached.push(sink);
    },
  };
}
