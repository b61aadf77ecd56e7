/**
 * Agents: what runs one turn. An adapter is two pure functions (arguments out, events in) and a table row.
 *
 * @module
 */
import type { AgentEvent, Preview } from "../events/types.ts";
import type { AgentTurn } from "../backlog/types.ts";

/** One turn asked of an agent. */
export interface TurnRequest {
  /** In full; how it reaches the agent is the adapter's business. */
  readonly prompt: string;
  /** Absolute path of the working tree. */
  readonly cwd: string;
  /** Absolute path of the file that all output is written to as it streams; its folder exists. */
  readonly transcript: string;
  /** Milliseconds for the whole turn. */
  readonly timeoutMs: number;
  /** Milliseconds without output, for agents that stream events. */
  readonly idleTimeoutMs?: number;
  /** Added to the agent's environment: `RALPH_ROOT`, `RALPH_RUN`, `RALPH_ITEM` …, and PATH. */
  readonly environment: Readonly<Record<string, string>>;
  /** The attempt's own nonce: the prompt asks that every signal that speaks for passing carries it. */
  readonly nonce?: string;
  /** Hand the terminal over. */
  readonly interactive?: boolean;
  /** Ends the agent's whole tree. */
  readonly signal: AbortSignal;
  /** Takes what the agent's stream says, as it comes, secrets masked. */
  readonly onEvent?: (event: AgentEvent) => void;
  /** Given a look at the end of its output, where that is plain text. */
  readonly onPreview?: (preview: Preview) => void;
  /** Called with the id of the agent's process. */
  readonly onStart?: (pid: number) => void;
}

/** Anything that can take a prompt and work on a tree. */
export interface Agent {
  /** Short, for people and for the journal. */
  readonly name: string;
  /** It can be handed the terminal with a prompt; `true` is known to converse there. @default true */
  readonly interactive?: boolean;
  /**
   * Looks whether the agent can run at all, before anything is written.
   * @throws {RalphError} agent-missing, agent-not-found
   */
  ensureUsable(): Promise<void>;
  /** Never throws for what the agent did: that is in `end`. */
  runTurn(request: TurnRequest): Promise<AgentTurn>;
}

/** A limit that an agent has reached. Times in milliseconds since 1970. */
export interface RateLimit {
  readonly untilMs: number;
  /** When the agent first met it: the longest wait counts from here. */
  readonly sinceMs: number;
  /** How often in a row it was reported. */
  readonly rounds: number;
  readonly message: string;
}

/** The limits of all agents, by name. */
export interface RateLimits {
  get(agent: string): RateLimit | null;
  set(agent: string, limit: RateLimit): Promise<void>;
  clear(agent: string): Promise<void>;
  /** Waits for an agent; turns that wait for the same one at once wait together. */
  wait(agent: string, wait: () => Promise<boolean>): Promise<boolean>;
}
