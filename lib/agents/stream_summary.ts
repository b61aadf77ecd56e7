import { words } from "../host/data.ts";
import type { TurnActivity, Usage } from "../backlog/turn_types.ts";
import { addUsage } from "../backlog/usage.ts";
import type { AgentEvent, FailureKind } from "./adapter.ts";
import { saysNothing, UNKNOWN_USAGE } from "./turn_end.ts";

type Limit = Extract<AgentEvent, { type: "agent-rate-limit" }>;
type End = Extract<AgentEvent, { type: "agent-end" }>;

/** The sum of a stream of events. */
export interface StreamSummary extends TurnActivity {
  /** Events of any kind but invalid lines. */
  readonly events: number;
  /** The model has said or done something. */
  readonly answered: boolean;
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
  /** Calls without a result. */
  readonly openCalls: number;
}

const ASKING = new Set(words(`
  AskUserQuestion ask_user ask_followup_question ask_question question ask_user_question
`));
const PLANNING = new Set(["ExitPlanMode", "exit_plan_mode", "plan_mode_respond", "EnterPlanMode", "enter_plan_mode"]);

/** Adds events up, one by one. */
export class StreamTally {
  #total: Usage | null = null;
  #steps: Usage | null = null;
  readonly #sum: { -readonly [Name in keyof StreamSummary]: StreamSummary[Name] } = {
    events: 0,
    answered: false,
    end: null,
    error: null,
    pastError: null,
    limit: null,
    waiting: false,
    usage: UNKNOWN_USAGE,
    toolCalls: 0,
    openCalls: 0,
    asked: false,
    planned: false,
  };

  take(event: AgentEvent): void {
    if (event.type === "agent-line-invalid") return;
    const sum = this.#sum;
    sum.events += 1;
    switch (event.type) {
      case "agent-text":
        sum.answered = true;
        sum.waiting = false;
        return;
      case "agent-tool-call":
        sum.answered = true;
        sum.waiting = false;
        sum.end = null;
        sum.toolCalls += 1;
        sum.openCalls += 1;
        sum.asked ||= ASKING.has(event.tool);
        sum.planned ||= PLANNING.has(event.tool);
        return;
      case "agent-tool-result":
        sum.waiting = false;
        sum.openCalls = Math.max(0, sum.openCalls - 1);
        return;
      case "agent-usage":
        if (event.scope === "total") this.#total = event.usage;
        else this.#steps = this.#steps === null ? event.usage : addUsage(this.#steps, event.usage);
        return;
      case "agent-rate-limit":
        if (event.status === "retrying") sum.waiting = true;
        if (event.status !== "warning") sum.limit = event;
        return;
      case "agent-error":
        if (event.fatal) sum.error = { kind: event.kind, message: event.message };
        return;
      case "agent-end":
        sum.end = event;
        if (event.status !== "completed" || sum.error === null) return;
        sum.pastError = sum.error;
        sum.error = null;
        return;
      case "agent-start":
      case "agent-file-change":
        return;
      default:
        return event satisfies never;
    }
  }

  read(): StreamSummary {
    const usage = this.#total ?? this.#steps;
    return { ...this.#sum, usage: usage === null || saysNothing(usage) ? UNKNOWN_USAGE : usage };
  }
}
