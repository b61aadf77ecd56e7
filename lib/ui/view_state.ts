/**
 * What the live view knows, folded from the events. Pure, and of constant size whatever an agent prints: texts are cut
 * here, and made safe where they are drawn.
 *
 * @module
 */
import type { AgentEvent } from "../events/agent_events.ts";
import type { RalphEvent } from "../events/types.ts";
import type { Usage } from "../backlog/types.ts";
import { addTurn, addUsage, NO_USAGE, type UsageTotal } from "../backlog/usage.ts";

type OfType<Type extends RalphEvent["type"]> = Extract<RalphEvent, { type: Type }>;

/** What is running now. */
export type Activity =
  | { readonly kind: "turn"; readonly agent: string; readonly sinceMs: number }
  | { readonly kind: "check"; readonly check: OfType<"check-start">; readonly sinceMs: number }
  | { readonly kind: "hook"; readonly hook: string; readonly sinceMs: number }
  | { readonly kind: "landing"; readonly sinceMs: number }
  | { readonly kind: "paused"; readonly sinceMs: number }
  | { readonly kind: "wait"; readonly wait: OfType<"wait-start">; readonly sinceMs: number };

/** What an agent waits for by itself in the middle of its turn. */
export interface Pause {
  readonly message: string;
  /** Milliseconds since 1970, where it is known. */
  readonly untilMs: number | null;
}

/** Everything that the view is drawn from. Times are milliseconds since 1970. */
export interface ViewState {
  /** Of the first event. */
  readonly startedMs: number | null;
  readonly step: string | null;
  readonly iteration: OfType<"iteration-start"> | null;
  readonly activity: Activity | null;
  /** The last thing that the agent used, and what for. */
  readonly tool: string;
  /** The end of what the agent said, or a check printed, last. */
  readonly words: string;
  readonly pause: Pause | null;
  /** Of this turn; `null`: not reported yet. */
  readonly turnUsage: Usage | null;
  /** Of all turns that have ended. */
  readonly runUsage: UsageTotal;
}

/** Before the first event. */
export const EMPTY_VIEW: ViewState = {
  startedMs: null,
  step: null,
  iteration: null,
  activity: null,
  tool: "",
  words: "",
  pause: null,
  turnUsage: null,
  runUsage: NO_USAGE,
};

/** Characters of a text that are kept: more than any terminal is wide. */
const KEPT = 2000;

/** The state after one more event; the same object where it changes nothing. */
export function nextView(before: ViewState, event: RalphEvent, now: number): ViewState {
  const state = before.startedMs === null ? { ...before, startedMs: now } : before;
  const quiet = { activity: null, tool: "", words: "", pause: null };
  switch (event.type) {
    case "step-start":
      return { ...state, ...quiet, step: event.title, iteration: null };
    case "step-end":
    case "run-end":
      return { ...state, ...quiet, step: null, iteration: null };
    case "iteration-start":
      return { ...state, ...quiet, iteration: event };
    case "iteration-end":
      return { ...state, ...quiet, iteration: null };
    case "turn-start":
      return {
        ...state,
        ...quiet,
        turnUsage: null,
        activity: { kind: "turn", agent: event.agent, sinceMs: now },
      };
    case "turn-end":
      return { ...state, ...quiet, turnUsage: null, runUsage: addTurn(state.runUsage, event.usage) };
    case "check-start":
      return { ...state, ...quiet, activity: { kind: "check", check: event, sinceMs: now } };
    case "hook-start": // a parallel one continues beside the turn, which is what is shown
      return event.parallel
        ? state
        : { ...state, ...quiet, activity: { kind: "hook", hook: event.hook, sinceMs: now } };
    case "hook-end":
      return state.activity?.kind === "hook" && state.activity.hook === event.hook ? { ...state, ...quiet } : state;
    case "wait-start":
      return { ...state, ...quiet, activity: { kind: "wait", wait: event, sinceMs: now } };
    case "pause-start":
      return { ...state, ...quiet, activity: { kind: "paused", sinceMs: now } };
    case "check-end":
    case "landing-end":
    case "wait-end":
    case "pause-end":
      return { ...state, ...quiet };
    case "run-start":
    case "wait-delta":
    case "sandbox":
    case "host-refused":
    case "state-restored":
    case "landing-start":
      return { ...state, ...quiet, activity: { kind: "landing", sinceMs: now } };
    case "items-reopened":
    case "tests-changed":
    case "trespass":
    case "commit":
    case "question":
    case "answer":
    case "steered":
    case "text":
    case "note":
      return state;
    default:
      return state.activity?.kind === "turn" ? duringTurn(state, event, now) : state;
  }
}

function duringTurn(state: ViewState, event: AgentEvent, now: number): ViewState {
  switch (event.type) {
    case "agent-text":
      return { ...state, pause: null, words: event.text.trimEnd().slice(-KEPT) };
    case "agent-tool-call":
      return { ...state, pause: null, tool: `${event.tool} ${event.input.slice(0, KEPT)}` };
    case "agent-file-change":
      return { ...state, tool: `${event.change} ${event.path.slice(0, KEPT)}` };
    case "agent-tool-result":
      return state.pause === null ? state : { ...state, pause: null };
    case "agent-usage": {
      const { scope, usage } = event;
      if (isNothing(usage)) return state;
      return {
        ...state,
        turnUsage: scope === "total" || state.turnUsage === null ? usage : addUsage(state.turnUsage, usage),
      };
    }
    case "agent-rate-limit": {
      const { waitMs, message, status } = event;
      const untilMs = event.untilMs ?? (waitMs === null ? null : now + waitMs);
      return { ...state, pause: { message: message.slice(0, KEPT), untilMs: status === "retrying" ? untilMs : null } };
    }
    case "agent-error":
      return { ...state, pause: { message: event.message.slice(0, KEPT), untilMs: null } };
    case "agent-start":
    case "agent-end":
    case "agent-line-invalid":
      return state;
  }
}

/** Requests that failed report nothing used; what they did use is not known. */
function isNothing({ inputTokens, outputTokens, costUsd }: Usage): boolean {
  return (inputTokens ?? 0) === 0 && (outputTokens ?? 0) === 0 && (costUsd ?? 0) === 0;
}
