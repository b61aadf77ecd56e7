import { callRow, type EventRows, type RalphEvent } from "../events/types.ts";
import {
  checkText,
  excerptLines,
  iterationText,
  PAUSED,
  type Remark,
  type RemarkedType,
  remarkOf,
  steeredText,
  usageText,
  waitText,
} from "./event_text.ts";
import { formatDuration } from "./format_duration.ts";

const TAIL_LINES = 20;

/** How deep remarks are indented, where it is not once. */
const DEPTHS: Partial<Record<RalphEvent["type"], number>> = {
  "sandbox": 0,
  "trespass": 0,
  "pause-end": 0,
  "note": 0,
  "agent-tool-call": 2,
  "agent-file-change": 2,
  "agent-rate-limit": 2,
  "agent-error": 2,
  "agent-line-invalid": 2,
};

/** An event as plain text, one line where it can be: for logs, pipes and screen readers. */
export function plainLines(event: RalphEvent): readonly string[] {
  const remark = remarkOf(event);
  if (remark === null) return [];
  return remark === undefined ? callRow(LINES, event) : remarkLines(event, remark);
}

const LINES: Omit<EventRows<readonly [], readonly string[]>, RemarkedType> = {
  "run-start": (event) => [
    `run: ${event.workflow} in ${event.root} with ${event.agent}${
      event.folder === "" ? "" : `, logs in ${event.folder}`
    }`,
  ],
  "step-start": (event) => [`${event.step}: ${event.title}`],
  "step-end": (event) => [`${event.step}: ${event.status}${event.message === undefined ? "" : `, ${event.message}`}`],
  "iteration-start": (event) => {
    const place = event.total === null ? "" : `, ${event.passed} of ${event.total} done`;
    return [`${nameOf(event.item)}: ${event.item.title} (attempt ${event.attempt}${place})`];
  },
  "turn-start": ({ agent, transcript, route }) => [
    `  agent ${agent}: started${route === undefined ? "" : ` (${route})`}, transcript in ${transcript}`,
  ],
  "turn-end": (event) => {
    const words = [formatDuration(event.durationMs), usageText(event.usage)].filter(Boolean).join(", ");
    return [
      `  agent ${event.agent}: ${event.reason} (${words})${event.message === null ? "" : `: ${event.message}`}`,
    ];
  },
  "check-end": (event) =>
    event.beforeWork === true
      ? event.ok ? [`  passes before the work: ${event.name}`] : []
      : event.ok
      ? [`  check passed: ${event.name} (${formatDuration(event.durationMs)})`]
      : [
        `  check failed: ${event.name} (${checkText(event)}, ${formatDuration(event.durationMs)})`,
        ...excerptLines(event.tail, TAIL_LINES).map((line) => `    ${line}`),
      ],
  "iteration-end": (
    event,
  ) => [`${nameOf(event.item)}: ${iterationText(event)} (${formatDuration(event.durationMs)})`],
  "hook-start": (event) => [`  hook ${event.hook} (iteration ${event.iteration}): started, log in ${event.log}`],
  "commit": (event) => [`  commit ${event.commit.slice(0, 7)}: ${event.subject}`],
  "steered": (event) => [steeredText(event)],
  "pause-start": () => [PAUSED],
  "text": (event) => [`${event.title}`, ...event.lines.map((line) => `  ${line}`.trimEnd())],
  "agent-text": (event) => event.text.trimEnd().split("\n").map((line) => `    ${line}`),
  "answer": (event) =>
    event.source === "terminal" || event.source === "stdin"
      ? []
      : [`answer ${event.id}: ${event.answer} (${event.source})`],
  "wait-start": waitLines,
  "wait-delta": waitLines,
  "wait-end": (event) =>
    event.interrupted ? [] : [`  ${event.agent}: waited ${formatDuration(event.waitedMs)}, continuing`],
};

function waitLines(event: Extract<RalphEvent, { type: "wait-start" | "wait-delta" }>): readonly string[] {
  return [`  ${waitText(event)}`];
}

/** Agents' words stand deepest, those about an item below it. */
function remarkLines(event: RalphEvent, remark: Remark): readonly string[] {
  const indent = "  ".repeat(DEPTHS[event.type] ?? 1);
  const took = remark.durationMs === undefined ? "" : ` (${formatDuration(remark.durationMs)})`;
  return [
    `${indent}${remark.tone === "warn" && took === "" ? "warning: " : ""}${remark.words}${took}`,
    ...(remark.below ?? []).map((line) => `    ${line}`),
  ];
}

/** `story US-001`; a stage of a workflow is its own kind. */
function nameOf({ kind, id }: { readonly kind: string; readonly id: string }): string {
  return kind === id ? id : `${kind} ${id}`;
}
