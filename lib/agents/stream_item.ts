import type { AgentEvent } from "../events/agent_events.ts";

export type { AgentEvent, FailureKind } from "../events/agent_events.ts";

/** Reads one agent's stream: pure but for what it remembers of the lines before. Never throws, whatever it is given. */
export interface Translator {
  /** The events in one line, already parsed from JSON. */
  push(value: unknown): readonly AgentEvent[];
  /** What is left to say when the stream has ended. */
  end(): readonly AgentEvent[];
}
