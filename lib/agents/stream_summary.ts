import type { Usage } from "../backlog/types.ts";
import { addUsage } from "../backlog/usage.ts";
import type { AgentEvent, FailureKind } from "./stream_item.ts";
import { UNKNOWN_USAGE } from "./turn_end.ts";

type Limit = Extract<AgentEvent, { type: "agent-rate-limit" }>;
type End = Extract<AgentEvent, { type: "agent-end" }>;

/** What a stream of events came to. */
export interface StreamSummary {
  /** Events of any kind but invalid lines. */
  readonly events: number;
  readonly end: End | null;
  /** The last error that the agent gave up for. */
  readonly error: { readonly kind: FailureKind; readonly message: string } | null;
  /** One that it got over by itself, as it says. */
  readonly pastError: { readonly kind: FailureKind; readonly message: string } | null;
  /** The limit that it gave up for, or that it was waiting for when the stream ended. */
  readonly limit: Limit | null;
  /** The last thing it did was to wait for a limit. */
  readonly waiting: boolean;
  readonly usage: Usage;
  readonly toolCalls: number;
  /** Calls without a result. */
  readonly openCalls: number;
  /** It tried to ask somebody, or to leave it at a plan. */
  readonly asked: boolean;
  readonly planned: boolean;
}

const ASKING = new Set([
  "AskUserQuestion",
  "ask_user",
  "ask_followup_question",
  "ask_question",
  "question",
  "ask_user_question",
]);
const PLANNING = new Set(["ExitPlanMode", "exit_plan_mode", "plan_mode_respond", "EnterPlanMode", "enter_plan_mode"]);

/** Adds events up, one by one. */
export function createSummary(): { take(event: AgentEvent): void; read(): StreamSummary } {
  let events = 0;
  let end: End | null = null;
  let error: StreamSummary["error"] = null;
  let pastError: StreamSummary["error"] = null;
  let limit: Limit | null = null;
  let waiting = false;
  let total: Usage | null = null;
  let steps: Usage | null = null;
  let toolCalls = 0;
  let openCalls = 0;
  let asked = false;
  let planned = false;

  function take(event: AgentEvent): void {
    if (event.type === "agent-line-invalid") return;
    events += 1;
    switch (event.type) {
      case "agent-text":
        waiting = false;
        return;
      case "agent-tool-call":
        waiting = false;
        end = null;
        toolCalls += 1;
        openCalls += 1;
        asked ||= ASKING.has(event.tool);
        planned ||= PLANNING.has(event.tool);
        return;
      case "agent-tool-result":
        waiting = false;
        openCalls = Math.max(0, openCalls - 1);
        return;
      case "agent-usage":
        if (event.scope === "total") total = event.usage;
        else steps = steps === null ? event.usage : addUsage(steps, event.usage);
        return;
      case "agent-rate-limit":
        if (event.status === "retrying") waiting = true;
        if (event.status !== "warning") limit = event;
        return;
      case "agent-error":
        if (event.fatal) error = { kind: event.kind, message: event.message };
        return;
      case "agent-end":
        end = event;
        if (event.status === "completed" && error !== null) {
          pastError = error;
          error = null;
        }
        return;
      case "agent-start":
      case "agent-file-change":
        return;
    }
  }

  return {
    take,
    read: () => ({
      events,
      end,
      error,
      pastError,
      limit,
      waiting,
      usage: known(total ?? steps ?? UNKNOWN_USAGE),
      toolCalls,
      openCalls,
      asked,
      planned,
    }),
  };
}

/** Requests that failed are told as nothing used; what they did use is not known. */
function known(usage: Usage): Usage {
  const nothing = (usage.inputTokens ?? 0) === 0 && (usage.outputTokens ?? 0) === 0 && (usage.costUsd ?? 0) === 0;
  return nothing ? UNKNOWN_USAGE : usage;
}
