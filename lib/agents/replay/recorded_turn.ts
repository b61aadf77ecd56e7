import type { AgentTurn } from "../../backlog/types.ts";
import type { AgentEvent } from "../../events/agent_events.ts";
import type { TreeChange } from "./tree_change.ts";

/** Version of the format. */
export const CASSETTE_VERSION = 1;

/** One recorded turn. */
export interface RecordedTurn extends TreeChange {
  readonly v: typeof CASSETTE_VERSION;
  /** Of the prompt, without what differs from run to run. */
  readonly promptHash: string;
  readonly prompt: string;
  readonly agent: string;
  readonly events: readonly AgentEvent[];
  readonly turn: Omit<AgentTurn, "transcript">;
}
