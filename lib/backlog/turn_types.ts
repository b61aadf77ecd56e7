/**
 * Turns: how one ended, what it used, what it left. Plain JSON.
 *
 * @module
 */
import type { EventUsage } from "../generated/events.ts";

/**
 * How a turn failed. `cut-off`: no result, or in the middle of a tool call. `refused`: it only asked, planned, or did
 * nothing at all. `killed`: something other than Ralph ended it. `unavailable`: its provider failed, again and again.
 */
export type TurnFailure =
  | "agent-failed"
  | "timed-out"
  | "idle"
  | "crashed"
  | "killed"
  | "cut-off"
  | "context-exhausted"
  | "refused"
  | "unavailable";

/** How an agent's turn ended. */
export type TurnEnd =
  | { readonly reason: "completed" }
  | { readonly reason: TurnFailure; readonly message: string }
  /** Nothing continues before `untilMs` (milliseconds since 1970, `null`: not reported). No attempt is counted. */
  | {
    readonly reason: "rate-limited";
    readonly untilMs: number | null;
    readonly message: string;
    /** The run's own limit that the turn, or a wait, would go beyond, in words: the run ends. */
    readonly budget?: string;
  }
  /** The agent cannot be used at all (not found, login, billing, model): stops the run, exit 4. */
  | { readonly reason: "agent-unusable"; readonly message: string }
  | { readonly reason: "aborted" };

/** The usage of a turn. `null` is unknown, never 0. */
export type Usage = EventUsage;

/** The answer of an agent for one turn. */
export interface AgentTurn {
  /** The end of the turn. */
  readonly end: TurnEnd;
  /** The end of the agent's own words, prompt echo and standard error left out; at most 1 MiB. */
  readonly text: string;
  /**
   * Lines of those words that can be a signal: outside code fences, white space, `*`, `_` and back-ticks around them
   * taken off, empty ones left out; the last 2,000.
   */
  readonly lines: readonly string[];
  /** Tokens and cost, unknown where the agent does not report them. */
  readonly usage: Usage;
  /** Absolute path of the file that holds all of the turn's output. */
  readonly transcript: string;
  /** Milliseconds. */
  readonly durationMs: number;
  /** The exit code of the agent's process, if it has one. */
  readonly exitCode?: number | null;
  /** The acts of the agent, if its stream reports them. */
  readonly activity?: TurnActivity;
  /** `false`: the agent never says that it is done, so that its checks alone decide. @default it is asked to */
  readonly needsClaim?: false;
}

/** The acts of an agent in a turn, as its stream reports them. */
export interface TurnActivity {
  readonly toolCalls: number;
  /** It used a tool that asks a person. */
  readonly asked: boolean;
  /** It used a tool that leaves it at a plan. */
  readonly planned: boolean;
}

/** An agent's turn with what it did to the working tree. */
export interface Turn extends AgentTurn {
  /** Paths relative to the root whose content the turn changed, committed or not. */
  readonly changedFiles: readonly string[];
  /** Lines in them, where that was counted. */
  readonly diff?: { readonly added: number; readonly removed: number };
  /** Commit before and after the turn. */
  readonly base: string | null;
  readonly head: string | null;
}

/** A turn as it is kept: the words stay in the transcript. */
export type TurnRecord = Omit<Turn, "lines" | "text">;

/** When a run's time is up. */
export interface TimeBudget {
  /** Milliseconds since 1970. */
  readonly endsAt: number;
  /** The limit in words: `30 minutes`. */
  readonly words: string;
}
