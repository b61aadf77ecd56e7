/**
 * The state of the live view, folded from the events. Pure, and of constant size whatever an agent prints: texts are
 * cut here, and made safe where they are drawn.
 *
 * @module
 */
import { callRow, type EventOf, type EventRows, type RalphEvent } from "../events/types.ts";
import type { Usage } from "../backlog/types.ts";
import { addTurn, addUsage, NO_USAGE, type UsageTotal } from "../backlog/usage.ts";

/** The part of the run that is at work now. */
export type Activity =
  | { readonly kind: "turn"; readonly agent: string; readonly sinceMs: number }
  | { readonly kind: "check"; readonly check: EventOf<"check-start">; readonly sinceMs: number }
  | { readonly kind: "hook"; readonly hook: string; readonly sinceMs: number }
  | { readonly kind: "landing"; readonly sinceMs: number }
  | { readonly kind: "paused"; readonly sinceMs: number }
  | { readonly kind: "wait"; readonly wait: EventOf<"wait-start">; readonly sinceMs: number };

/** An agent waits for this by itself in the middle of its turn. */
export interface Pause {
  readonly message: string;
  /** Milliseconds since 1970, where it is known. */
  readonly untilMs: number | null;
}

/** Everything that the view is drawn from. Times are milliseconds since 1970. */
export interface ViewState {
  /** The time of the first event. */
  readonly startedMs: number | null;
  readonly step: string | null;
  readonly iteration: EventOf<"iteration-start"> | null;
  readonly activity: Activity | null;
  /** The last thing that the agent used, and what for. */
  readonly tool: string;
  /** The end of what the agent said, or a check printed, last. */
  readonly words: string;
  readonly pause: Pause | null;
  /** The usage of this turn; `null`: not reported yet. */
  readonly turnUsage: Usage | null;
  /** The usage of all turns that have ended. */
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

/** The state after one more event; the same object if it changes nothing. */
export function nextView(before: ViewState, event: RalphEvent, now: number): ViewState {
  const state = before.startedMs === null ? { ...before, startedMs: now } : before;
  return callRow(ROWS, event, state, now) ?? state;
}

/**
 * Takes an event of a worker's tree: its view is there from the start of its item to its end.
 *
 * @returns whether anything has changed
 */
export function takeInLane(lanes: Map<number, ViewState>, lane: number, event: RalphEvent, now: number): boolean {
  const before = lanes.get(lane) ?? EMPTY_VIEW;
  const next = nextView(before, event, now);
  if (next.iteration === null) return lanes.delete(lane);
  lanes.set(lane, next);
  return next !== before;
}

const QUIET = { activity: null, tool: "", words: "", pause: null };

const idle = (_event: RalphEvent, state: ViewState): ViewState => ({ ...state, ...QUIET });
const over = (_event: RalphEvent, state: ViewState): ViewState => ({ ...state, ...QUIET, step: null, iteration: null });

function begin(state: ViewState, activity: Activity): ViewState {
  return { ...state, ...QUIET, activity };
}

/** Keeps an agent's news only while its turn is shown. */
function duringTurn(state: ViewState, change: Partial<ViewState>): ViewState {
  return state.activity?.kind === "turn" ? { ...state, ...change } : state;
}

/** They change nothing that is shown. */
type PassedOver =
  | "run-start"
  | "items-reopened"
  | "agent-start"
  | "agent-end"
  | "agent-line-invalid"
  | "wait-delta"
  | "experiments"
  | "sandbox"
  | "host-refused"
  | "state-restored"
  | "trespass"
  | "commit"
  | "question"
  | "answer"
  | "steered"
  | "text"
  | "note";

const ROWS: EventRows<readonly [state: ViewState, now: number], ViewState, PassedOver> = {
  "run-end": over,
  "step-start": ({ title }, state) => ({ ...state, ...QUIET, step: title, iteration: null }),
  "step-end": over,
  "iteration-start": (event, state) => ({ ...state, ...QUIET, iteration: event }),
  "iteration-end": (_event, state) => ({ ...state, ...QUIET, iteration: null }),
  "turn-start": ({ agent }, state, now) => ({
    ...begin(state, { kind: "turn", agent, sinceMs: now }),
    turnUsage: null,
  }),
  "turn-end": ({ usage }, state) => ({
    ...state,
    ...QUIET,
    turnUsage: null,
    runUsage: addTurn(state.runUsage, usage),
  }),
  "check-start": (check, state, now) => begin(state, { kind: "check", check, sinceMs: now }),
  "check-end": idle,
  // a parallel hook runs beside the turn, and the turn is what is shown
  "hook-start": ({ hook, parallel }, state, now) =>
    parallel ? state : begin(state, { kind: "hook", hook, sinceMs: now }),
  "hook-end": ({ hook }, state) =>
    state.activity?.kind === "hook" && state.activity.hook === hook ? { ...state, ...QUIET } : state,
  "landing-start": (_event, state, now) => begin(state, { kind: "landing", sinceMs: now }),
  "landing-end": idle,
  "wait-start": (wait, state, now) => begin(state, { kind: "wait", wait, sinceMs: now }),
  "wait-end": idle,
  "pause-start": (_event, state, now) => begin(state, { kind: "paused", sinceMs: now }),
  "pause-end": idle,
  "agent-text": ({ text }, state) => duringTurn(state, { pause: null, words: text.trimEnd().slice(-KEPT) }),
  "agent-tool-call": ({ tool, input }, state) =>
    duringTurn(state, { pause: null, tool: `${tool} ${input.slice(0, KEPT)}` }),
  "agent-tool-result": (_event, state) => state.pause === null ? state : duringTurn(state, { pause: null }),
  "agent-file-change": ({ change, path }, state) => duringTurn(state, { tool: `${change} ${path.slice(0, KEPT)}` }),
  "agent-usage": ({ scope, usage }, state) => {
    if (isNothing(usage)) return state;
    const isWhole = scope === "total" || state.turnUsage === null;
    return duringTurn(state, { turnUsage: isWhole ? usage : addUsage(state.turnUsage, usage) });
  },
  "agent-rate-limit": ({ waitMs, message, status, untilMs: named }, state, now) => {
    const untilMs = named ?? (waitMs === null ? null : now + waitMs);
    const pause = { message: message.slice(0, KEPT), untilMs: status === "retrying" ? untilMs : null };
    return duringTurn(state, { pause });
  },
  "agent-error": ({ message }, state) =>
    duringTurn(state, { pause: { message: message.slice(0, KEPT), untilMs: null } }),
};

/** Requests that failed report nothing used; what they did use is not known. */
function isNothing({ inputTokens, outputTokens, costUsd }: Usage): boolean {
  return (inputTokens ?? 0) === 0 && (outputTokens ?? 0) === 0 && (costUsd ?? 0) === 0;
}
