import { localTime } from "../host/local_date.ts";
import type { Usage } from "../backlog/types.ts";
import { addTurn, tokensOf, type UsageTotal } from "../backlog/usage.ts";
import { dollars, waitReason } from "./event_text.ts";
import { formatDuration, printableView, type Style } from "./printable.ts";
import type { Activity, Pause, ViewState } from "./view_state.ts";
import stringWidth from "fast-string-width";

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
      if (state.pause !== null) return [[pauseText(state.pause, now), warn]];
      const { tool, turnUsage, runUsage } = state;
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

function pauseText({ message, untilMs }: Pause, now: number): string {
  const left = untilMs === null || untilMs <= now ? "" : `${elapsed(untilMs - now)} left: `;
  return `${left}${message}`;
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
