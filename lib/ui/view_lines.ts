import stringWidth from "fast-string-width";
import { saysNothing } from "../agents/turn_end.ts";
import type { Usage } from "../backlog/types.ts";
import { addTurn, addUsage, NO_USAGE, tokensOf, type UsageTotal } from "../backlog/usage.ts";
import { callRow, type EventOf, type EventRows, type RalphEvent } from "../events/types.ts";
import { mapTexts } from "../host/data.ts";
import { localTime } from "../host/local_date.ts";
import { dollars, formatDuration, oneLine, plainText, type Style, waitReason } from "./text.ts";

const CHARACTERS = new Intl.Segmenter();

/** How the view is drawn. */
export interface ViewOptions {
  /** Columns of the terminal: a line is always narrower. */
  readonly columns: number;
  /** Rows of the terminal: the view takes less than all of them. */
  readonly rows: number;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly style: Style;
}

type Paint = (text: string) => string;
type Part = readonly [text: string, paint: Paint];

const LINES = 3;
/** A title is cut down to this before what follows it is. */
const LEAST_TITLE = 12;
const as = (text: string): string => text;

/** The lines of the live view, none while nothing runs. Pure. */
export function viewLines(given: ViewState, options: ViewOptions): readonly string[] {
  const state = printableView(given);
  const { activity, words } = state;
  if (activity === null) return [];
  const width = options.columns - 1;
  const { dim, symbols } = options.style;
  const lines = [
    titleLine(state, activity, options),
    draw([["  ", as], ...activityParts(state, activity, options)], width, symbols.ellipsis),
    ...(words === "" ? [] : [draw([[`  ${symbols.bar} `, dim], [words, dim]], width, symbols.ellipsis)]),
  ];
  return lines.slice(0, Math.max(1, Math.min(LINES, options.rows - 1)));
}

/**
 * One line for each lane that is at work: `0 ◆ US-004 Add login · 3m 12s · Edit src/login.ts`. Pure.
 */
export function laneLines(lanes: ReadonlyMap<number, ViewState>, options: ViewOptions): readonly string[] {
  const { columns, rows, now, style: { accent, bold, dim, symbols } } = options;
  const lines = [...lanes].toSorted(([one], [other]) => one - other).flatMap(([lane, given]) => {
    const state = printableView(given);
    const { iteration, activity } = state;
    if (iteration === null) return [];
    const { id, title } = iteration.item;
    const rest: readonly Part[] = activity === null
      ? [["waits to land", dim]]
      : activity.kind === "turn" && state.tool !== "" && state.pause === null
      ? [[state.tool, accent]]
      : activityParts(state, activity, options);
    const since: readonly Part[] = activity === null
      ? []
      : [[` ${symbols.dot} ${elapsed(now - activity.sinceMs)}`, as]];
    const head: readonly Part[] = [[`${lane} `, dim], [`${symbols.start} `, accent], [`${id} `, bold]];
    const behind: readonly Part[] = [...since, [` ${symbols.dot} `, dim], ...rest];
    const room = columns - 1 - widthOf([...head, ...behind]);
    const shown = cutToWidth(title, Math.max(LEAST_TITLE, Math.floor(columns / 3), room), symbols.ellipsis);
    return [draw([...head, [shown, as], ...behind], columns - 1, symbols.ellipsis)];
  });
  return lines.slice(0, Math.max(1, rows - 1));
}

/** `◆ US-001 Add login · attempt 2 · iteration 3/10 · 1m 05s · run 12m 30s`: what the title has no room beside is left out. */
function titleLine(state: ViewState, activity: Activity, { columns, now, style }: ViewOptions): string {
  const { accent, bold, symbols } = style;
  const { iteration } = state;
  const [name, title] = iteration === null
    ? ["", state.step ?? nameOf(activity)]
    : [`${iteration.item.id} `, iteration.item.title];
  const head: Part[] = [[`${symbols.start} `, accent], [name, bold]];
  const least = Math.min(displayWidth(title), LEAST_TITLE);
  const roomBeside = (rest: readonly Part[]): number => columns - 1 - widthOf([...head, ...rest]);
  const choices = progressChoices(state, activity, now, style);
  const rest = choices.find((parts) => roomBeside(parts) >= least) ?? [];
  const shown = cutToWidth(title, Math.max(least, roomBeside(rest)), symbols.ellipsis);
  return draw([...head, [shown, as], ...rest], columns - 1, symbols.ellipsis);
}

/** How far it is and how long it has taken, the longest way of saying so first. */
function progressChoices(
  { iteration, startedMs }: ViewState,
  { sinceMs }: Activity,
  now: number,
  { dim, warn, symbols }: Style,
): readonly (readonly Part[])[] {
  const part = (text: string, paint: Paint): Part => [` ${symbols.dot} ${text}`, paint];
  const since = now - sinceMs;
  const whole = now - (startedMs ?? sinceMs);
  const time = part(elapsed(since), as);
  const times = whole - since >= 1000 ? [time, part(`run ${elapsed(whole)}`, dim)] : [time];
  if (iteration === null) return [times, [time], []];
  const { attempt, iteration: number, limit } = iteration;
  const place = limit === undefined || number > limit ? String(number) : `${number}/${limit}`;
  const again = attempt > 1 ? [part(`attempt ${attempt}`, warn)] : [];
  return [
    [...again, part(`iteration ${place}`, dim), ...times],
    [...again, part(place, dim), ...times],
    [part(place, dim), time],
    [time],
    [],
  ];
}

function nameOf(activity: Activity): string {
  if (activity.kind === "turn") return activity.agent;
  if (activity.kind === "wait") return activity.wait.agent;
  if (activity.kind === "hook") return `hook ${activity.hook}`;
  return activity.kind === "check" ? "verification" : activity.kind;
}

function activityParts(state: ViewState, activity: Activity, options: ViewOptions): readonly Part[] {
  const { now, columns, style: { accent, dim, warn, symbols } } = options;
  switch (activity.kind) {
    case "paused":
      return [["paused", warn], [` ${symbols.dot} \`ralph resume\` continues, \`ralph stop\` ends the run`, dim]];
    case "check": {
      const { number, total, name } = activity.check;
      return [[`check ${number}/${total} `, accent], [name, as]];
    }
    case "hook":
      return [["hook ", accent], [activity.hook, as]];
    case "landing":
      return [["landing", accent]];
    case "wait": {
      const { wait } = activity;
      const left = elapsed(Date.parse(wait.until) - now);
      return [[`${left} left: ${waitReason(wait)}, until ${localTime(wait.until)} (${wait.message})`, warn]];
    }
    case "turn": {
      const { pause, tool, turnUsage, runUsage } = state;
      if (pause !== null) {
        const left = pause.untilMs === null || pause.untilMs <= now ? "" : `${elapsed(pause.untilMs - now)} left: `;
        return [[`${left}${pause.message}`, warn]];
      }
      const total = turnUsage === null ? runUsage : addTurn(runUsage, turnUsage);
      const whole = runUsage.turns > 0 && columns >= 60 ? spent(total, total) : "";
      const used = [turnUsage === null ? "" : spent(turnUsage), whole === "" ? "" : `run ${whole}`];
      return [
        [used.filter(Boolean).join(` ${symbols.dot} `) || activity.agent, dim],
        ...(tool === "" ? [] : [[` ${symbols.dot} `, dim], [tool, accent]] as const),
      ];
    }
  }
}

/** `12.3k+ tokens, ~$0.03`; what is not known is left out, and a plus is where some turns did not report it. */
function spent(usage: Usage, { turnsWithoutTokens = 0, turnsWithoutCost = 0 }: Partial<UsageTotal> = {}): string {
  const { costUsd, estimated } = usage;
  const tokens = tokensOf(usage);
  const more = (turns: number): string => turns > 0 ? "+" : "";
  return [
    ...tokens === null ? [] : [`${amount(tokens)}${more(turnsWithoutTokens)} tokens`],
    ...costUsd === null ? [] : [`${estimated ? "~" : ""}${dollars(costUsd)}${more(turnsWithoutCost)}`],
  ].join(", ");
}

function amount(count: number): string {
  if (count < 1000) return String(count);
  return count < 999_950 ? `${(count / 1000).toFixed(1)}k` : `${(count / 1_000_000).toFixed(1)}M`;
}

function elapsed(ms: number): string {
  const seconds = Math.floor(Math.max(0, ms) / 1000);
  return seconds < 10 ? `${seconds}s` : formatDuration(seconds * 1000);
}

function widthOf(parts: readonly Part[]): number {
  return parts.reduce((sum, [text]) => sum + displayWidth(text), 0);
}

/** Cuts first and paints what is left, so that no colour stays open. */
function draw(parts: readonly Part[], width: number, ellipsis: string): string {
  let room = width;
  let line = "";
  for (const [text, paint] of parts) {
    const shown = cutToWidth(text, room, ellipsis);
    line += paint(shown);
    room -= displayWidth(shown);
    if (shown !== text || room <= 0) break;
  }
  return line;
}

/** Columns that a text takes in a terminal. */
export function displayWidth(text: string): number {
  return stringWidth(text);
}

/** The text, or its beginning and the ellipsis, in no more than so many columns. */
export function cutToWidth(text: string, width: number, ellipsis: string): string {
  if (stringWidth(text) <= width) return text;
  const mark = stringWidth(ellipsis) < width ? ellipsis : "";
  let room = width - stringWidth(mark);
  let beginning = "";
  for (const { segment } of CHARACTERS.segment(text)) {
    room -= stringWidth(segment);
    if (room < 0) break;
    beginning += segment;
  }
  return beginning + mark;
}

/** The part of the run that is at work now. */
export type Activity =
  | { readonly kind: "turn"; readonly agent: string; readonly sinceMs: number }
  | { readonly kind: "check"; readonly check: EventOf<"check-start">; readonly sinceMs: number }
  | { readonly kind: "hook"; readonly hook: string; readonly sinceMs: number }
  | { readonly kind: "landing"; readonly sinceMs: number }
  | { readonly kind: "paused"; readonly sinceMs: number }
  | { readonly kind: "wait"; readonly wait: EventOf<"wait-start">; readonly sinceMs: number };

/** An agent waits for this by itself in the middle of its turn. */
interface Pause {
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
  "turn-end": ({ usage }, state) => ({ ...state, ...QUIET, turnUsage: null, runUsage: addTurn(state.runUsage, usage) }),
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
    if (saysNothing(usage)) return state;
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

/** The live view's state with texts that can be shown, each on one line; of the words the last line beside its claim. Pure. */
export function printableView({ words, ...state }: ViewState): ViewState {
  const shown = (text: string): string => oneLine(plainText(text.slice(0, KEPT)));
  // of a bar of progress what it was drawn over with
  const last = words.split(/[\r\n]+/).map(shown).findLast((line) => !/^(?:<(?:ralph|promise)\b.*)?$/.test(line)) ?? "";
  return { ...mapTexts(state, shown) as typeof state, words: last };
}
