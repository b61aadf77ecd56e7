import type { AgentEvent } from "../events/agent_events.ts";
import type { RalphEvent } from "../events/types.ts";
import {
  agentText,
  changesText,
  checkText,
  hookText,
  iterationText,
  iterationTone,
  landingText,
  landingTone,
  PAUSED,
  refusedText,
  sandboxText,
  steeredText,
  tailLines,
  trespassText,
  usageText,
  waitText,
} from "./event_text.ts";
import { formatDuration } from "./format_duration.ts";
import type { Style } from "./style.ts";

const TAIL_LINES = 12;
const DIFF_LINES = 200;

/** An event as lines for a terminal: an item a block, its turn, checks and commits below it. */
export function richLines(event: RalphEvent, style: Style): readonly string[] {
  const lines = LINES[event.type] as (event: RalphEvent, style: Style) => readonly string[];
  return lines(event, style);
}

const none = (): readonly string[] => [];

function checkLines(
  event: Extract<RalphEvent, { type: "check-end" }>,
  { bad, dim, good, symbols, warn }: Style,
): readonly string[] {
  if (event.beforeWork === true) {
    return event.ok ? [indented(warn(symbols.warning), `${event.name} ${dim("passes before the work")}`)] : [];
  }
  const took = dim(formatDuration(event.durationMs));
  if (event.ok) return [indented(good(symbols.passed), `${event.name} ${took}`)];
  return [
    indented(bad(symbols.failed), `${event.name} ${took} ${bad(checkText(event))}`),
    ...tailLines(event.tail, TAIL_LINES).map((line) => indented(" ", `${dim(symbols.bar)} ${line}`)),
  ];
}

const LINES: {
  readonly [Type in RalphEvent["type"]]: (
    event: Extract<RalphEvent, { type: Type }>,
    style: Style,
  ) => readonly string[];
} = {
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
  "tests-changed": (event, { dim, warn, symbols }) => [
    indented(warn(symbols.warning), warn(`tests changed${event.blocked ? ", the attempt fails" : ""}`)),
    ...event.findings.map((line) => indented(" ", `${dim(symbols.bar)} ${line}`)),
  ],
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
  "hook-end": (event, { dim, good, warn, symbols }) => {
    const [paint, mark] = event.status === "completed" ? [good, symbols.passed] : [warn, symbols.warning];
    return [indented(paint(mark), `${hookText(event)} ${dim(formatDuration(event.durationMs))}`)];
  },
  "landing-start": none,
  "landing-end": (event, { dim, warn, symbols }) => [
    landingTone(event) === "good"
      ? indented(dim(symbols.dot), dim(landingText(event)))
      : indented(warn(symbols.warning), warn(landingText(event))),
  ],
  "items-reopened": (event, { symbols, warn }) => [
    indented(warn(symbols.warning), warn(`the final check sends back ${event.ids.join(", ")}`)),
  ],
  "sandbox": (event, { dim, warn, symbols }) => [
    event.on
      ? indented(dim(symbols.dot), dim(sandboxText(event)))
      : indented(warn(symbols.warning), warn(sandboxText(event))),
  ],
  "host-refused": (event, { warn, symbols }) => [indented(warn(symbols.warning), warn(refusedText(event)))],
  "state-restored": (
    event,
    { warn, symbols },
  ) => [indented(warn(symbols.warning), warn(`restored, edited manually: ${event.paths.join(", ")}`))],
  "trespass": (event, { bad, dim, symbols }) => [
    indented(bad(symbols.failed), bad(trespassText(event))),
    ...tailLines(event.diff, DIFF_LINES).map((line) => indented(" ", `${dim(symbols.bar)} ${line}`)),
  ],
  "commit": (
    event,
    { accent, dim, symbols },
  ) => [indented(accent(symbols.commit), `${dim(event.commit.slice(0, 7))} ${event.subject}`)],
  "steered": (event, { accent, symbols }) => [indented(accent(symbols.start), steeredText(event))],
  "pause-start": (_event, { warn, symbols }) => [indented(warn(symbols.open), warn(PAUSED))],
  "pause-end": (event, { dim, symbols }) => [
    indented(dim(symbols.dot), dim(`continues after ${formatDuration(event.pausedMs)}`)),
  ],
  "text": (event, { bold }) => ["", bold(event.title), ...event.lines.map((line) => `  ${line}`)],
  "note": (event, { dim, warn, symbols }) =>
    event.level === "warn"
      ? [indented(warn(symbols.warning), warn(event.message))]
      : [indented(dim(symbols.dot), event.message)],
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
  "agent-tool-call": agentLines,
  "agent-file-change": agentLines,
  "agent-rate-limit": agentLines,
  "agent-error": agentLines,
  "agent-line-invalid": agentLines,
  "agent-start": none,
  "agent-tool-result": none,
  "agent-usage": none,
  "agent-end": none,
  "check-start": none,
  "hook-start": none,
  "question": none,
  "run-end": none,
};

function waitLines(
  event: Extract<RalphEvent, { type: "wait-start" | "wait-delta" }>,
  { warn, symbols }: Style,
): readonly string[] {
  return [indented(warn(symbols.open), warn(waitText(event)))];
}

function agentLines(event: AgentEvent, { dim, symbols }: Style): readonly string[] {
  const words = agentText(event);
  return words === null ? [] : [indented(dim(symbols.dot), dim(words))];
}

function indented(mark: string, text: string): string {
  return `  ${mark} ${text}`;
}
