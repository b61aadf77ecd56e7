import type { AgentEvent } from "../events/types.ts";

export type { AgentEvent, FailureKind } from "../events/types.ts";

/** Reads one agent's stream: pure but for what it remembers of the lines before. Never throws, whatever it is given. */
export interface Translator {
  /** The events in one line, already parsed from JSON. */
  push(value: unknown): readonly AgentEvent[];
  /** Emits the rest when the stream has ended. @default nothing */
  end?(): readonly AgentEvent[];
}
