import type { AgentEvent, FailureKind } from "./stream_item.ts";

/** When a limit ends, where the agent says so. */
export interface LimitTimes {
  /** Milliseconds since 1970. */
  readonly untilMs?: number | null;
  /** Milliseconds from now. */
  readonly waitMs?: number | null;
}

/** An agent gave up: the error, the limit where it is one, and the end. */
export function failureEvents(kind: FailureKind, message: string, times: LimitTimes = {}): readonly AgentEvent[] {
  const { untilMs = null, waitMs = null } = times;
  return [
    { type: "agent-error", kind, fatal: true, message },
    ...(kind === "rate-limit"
      ? [{ type: "agent-rate-limit", status: "rejected", untilMs, waitMs, message } as const]
      : []),
    { type: "agent-end", status: "failed", message },
  ];
}

/** An agent tries again by itself. */
export function retryEvents(kind: FailureKind, message: string, waitMs: number | null = null): readonly AgentEvent[] {
  return kind === "rate-limit"
    ? [{ type: "agent-rate-limit", status: "retrying", untilMs: null, waitMs, message }]
    : [{ type: "agent-error", kind, fatal: false, message }];
}
