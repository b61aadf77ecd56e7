import { callRow, type EventOf, type EventRows, type RalphEvent } from "../events/types.ts";
import {
  changesText,
  checkText,
  excerptLines,
  iterationText,
  iterationTone,
  PAUSED,
  type Remark,
  type RemarkedType,
  remarkOf,
  steeredText,
  usageText,
  waitText,
} from "./event_text.ts";
import { formatDuration } from "./format_duration.ts";
import type { Style } from "./style.ts";

const TAIL_LINES = 12;

/** An event as lines for a terminal: an item a block, its turn, checks and commits below it. */
export function richLines(event: RalphEvent, style: Style): readonly string[] {
  const remark = remarkOf(event);
  if (remark === null) return [];
  return remark === undefined ? callRow(LINES, event, style) : remarkLines(event, remark, style);
}

const none = (): readonly string[] => [];

function checkLines(
  event: EventOf<"check-end">,
  { bad, dim, good, symbols, warn }: Style,
): readonly string[] {
  if (event.beforeWork === true) {
    return event.ok ? [indented(warn(symbols.warning), `${event.name} ${dim("passes before the work")}`)] : [];
  }
  const took = dim(formatDuration(event.durationMs));
  if (event.ok) return [indented(good(symbols.passed), `${event.name} ${took}`)];
  return [
    indented(bad(symbols.failed), `${event.name} ${took} ${bad(checkText(event))}`),
    ...excerptLines(event.tail, TAIL_LINES).map((line) => indented(" ", `${dim(symbols.bar)} ${line}`)),
  ];
}

const LINES: Omit<EventRows<readonly [style: Style], readonly string[]>, RemarkedType> = {
  "run-start": (event, { accent, bold, dim, symbols }) => [
    `${accent(symbols.start)} ${bold(event.workflow)} ${
      dim(`${symbols.dot} ${event.agent} ${symbols.dot} ${event.root}`)
    }`,
    ...(event.folder === "" ? [] : [indented(" ", dim(`logs in ${event.folder}`))]),
  ],
  "step-start": (event, { accent, bold, symbols }) => ["", `${accent(symbols.start)} ${bold(event.title)}`],
  "step-end": (event, { dim, symbols }) =>
    event.message === undefined ? [] : [indented(dim(symbols.dot), event.message)],
  "iteration-start": (event, { accent, bold, dim, warn, symbols }) => {
    const place = event.total === null ? "" : ` ${symbols.dot} ${event.passed}/${event.total} done`;
    const attempt = event.attempt > 1 ? ` ${symbols.dot} ${warn(`attempt ${event.attempt}`)}` : "";
    return ["", `${accent(symbols.start)} ${bold(event.item.id)}  ${event.item.title}${dim(place)}${attempt}`];
  },
  "turn-end": (event, { bad, dim, symbols }) => {
    const words = [formatDuration(event.durationMs), usageText(event.usage)].filter(Boolean).join(", ");
    const failed = event.reason === "completed" ? "" : ` ${bad(event.message ?? event.reason)}`;
    return [indented(dim(symbols.bar), `${dim(`agent ${event.agent} ${words}`)}${failed}`)];
  },
  "check-end": checkLines,
  "iteration-end": (event, { bad, dim, good, warn, symbols }) => {
    const paint = { good, warn, bad }[iterationTone(event)];
    const mark = { good: symbols.passed, warn: symbols.open, bad: symbols.failed }[iterationTone(event)];
    const changes = event.changes === undefined ? "" : ` ${symbols.dot} ${changesText(event.changes)}`;
    return [
      indented(
        paint(mark),
        `${paint(iterationText(event))} ${dim(`in ${formatDuration(event.durationMs)}${changes}`)}`,
      ),
    ];
  },
  "commit": (
    event,
    { accent, dim, symbols },
  ) => [indented(accent(symbols.commit), `${dim(event.commit.slice(0, 7))} ${event.subject}`)],
  "steered": (event, { accent, symbols }) => [indented(accent(symbols.start), steeredText(event))],
  "pause-start": (_event, { warn, symbols }) => [indented(warn(symbols.open), warn(PAUSED))],
  "text": (event, { bold }) => ["", bold(event.title), ...event.lines.map((line) => `  ${line}`)],
  "agent-text": (event, { dim, symbols }) =>
    event.text.trimEnd().split("\n").map((line) => indented(dim(symbols.bar), dim(line))),
  "answer": (event, { dim, symbols }) =>
    event.source === "terminal" || event.source === "stdin"
      ? []
      : [indented(dim(symbols.dot), dim(`${event.id}: ${event.answer} (${event.source})`))],
  "turn-start": (event, { dim, symbols }) => [
    indented(
      dim(symbols.bar),
      dim(`agent ${event.agent} at work${symbols.ellipsis} transcript in ${event.transcript}`),
    ),
  ],
  "wait-start": waitLines,
  "wait-delta": waitLines,
  "wait-end": (event, { dim, symbols }) =>
    event.interrupted
      ? []
      : [indented(dim(symbols.dot), dim(`${event.agent} waited ${formatDuration(event.waitedMs)}, continuing`))],
  "hook-start": none,
};

function waitLines(
  event: Extract<RalphEvent, { type: "wait-start" | "wait-delta" }>,
  { warn, symbols }: Style,
): readonly string[] {
  return [indented(warn(symbols.open), warn(waitText(event)))];
}

function remarkLines(event: RalphEvent, remark: Remark, style: Style): readonly string[] {
  const { dim, symbols } = style;
  const mark = { good: symbols.passed, warn: symbols.warning, bad: symbols.failed, dim: symbols.dot }[remark.tone];
  const paint = style[remark.tone];
  const isPlain = remark.durationMs !== undefined || event.type === "note" && remark.tone === "dim";
  const took = remark.durationMs === undefined ? "" : ` ${dim(formatDuration(remark.durationMs))}`;
  return [
    indented(paint(mark), `${isPlain ? remark.words : paint(remark.words)}${took}`),
    ...(remark.below ?? []).map((line) => indented(" ", `${dim(symbols.bar)} ${line}`)),
  ];
}

function indented(mark: string, text: string): string {
  return `  ${mark} ${text}`;
}
