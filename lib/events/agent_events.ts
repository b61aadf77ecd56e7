/**
 * What an agent's own stream says, in one vocabulary for all of them. Plain JSON; nothing here is a claim yet.
 *
 * @module
 */
import type { Usage } from "../backlog/types.ts";

/** What stopped an agent, where it said so. */
export type FailureKind =
  /** Not logged in, a wrong key. */
  | "auth"
  /** No credit, no plan. */
  | "billing"
  /** The model does not exist or may not be used. */
  | "model"
  /** The conversation no longer fits the model. */
  | "context"
  | "rate-limit"
  /** The provider's side: overloaded, internal error. */
  | "server"
  /** The connection was lost. */
  | "network"
  /** A limit that the agent was given: turns, budget. */
  | "own-limit"
  /** A person interrupted the agent. */
  | "interrupted"
  | "other";

/** What happened inside an agent's turn. */
export type AgentEvent =
  | { readonly type: "agent-start"; readonly session: string | null; readonly model: string | null }
  /** One whole message of the agent's own words. */
  | { readonly type: "agent-text"; readonly text: string }
  /** `input`: what it is called with, short. */
  | { readonly type: "agent-tool-call"; readonly id: string | null; readonly tool: string; readonly input: string }
  /** `output`: the end of what it gave. */
  | { readonly type: "agent-tool-result"; readonly id: string | null; readonly ok: boolean; readonly output: string }
  | { readonly type: "agent-file-change"; readonly path: string; readonly change: "added" | "changed" | "deleted" }
  /** `step`: to be added up; `total`: of the whole turn. */
  | { readonly type: "agent-usage"; readonly scope: "step" | "total"; readonly usage: Usage }
  | {
    readonly type: "agent-rate-limit";
    /** `warning`: near the limit; `retrying`: the agent waits by itself; `rejected`: it gave up. */
    readonly status: "warning" | "retrying" | "rejected";
    /** Milliseconds since 1970, where it is reported. */
    readonly untilMs: number | null;
    /** Milliseconds from now, where it is reported. */
    readonly waitMs: number | null;
    readonly message: string;
  }
  /** `fatal`: the agent gave up; otherwise it continues (a retry, a warning). */
  | { readonly type: "agent-error"; readonly kind: FailureKind; readonly fatal: boolean; readonly message: string }
  /** The agent says that its turn is over. A later one replaces an earlier one. */
  | {
    readonly type: "agent-end";
    readonly status: "completed" | "cut-off" | "failed";
    readonly message: string | null;
  }
  /** A line that is no event: not JSON, or too long to be read. `line` is its beginning. */
  | { readonly type: "agent-line-invalid"; readonly reason: string; readonly line: string };
