import type { AgentEvent } from "../events/agent_events.ts";
import type { RalphEvent } from "../events/types.ts";
import {
  agentText,
  checkText,
  hookText,
  iterationText,
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

const TAIL_LINES = 20;
const DIFF_LINES = 200;

/** An event as plain text, one line where it can be: for logs, pipes and screen readers. */
export function plainLines(event: RalphEvent): readonly string[] {
  const lines = LINES[event.type] as (event: RalphEvent) => readonly string[];
  return lines(event);
}

const none = (): readonly string[] => [];

const LINES: {
  readonly [Type in RalphEvent["type"]]: (event: Extract<RalphEvent, { type: Type }>) => readonly string[];
} = {
  "run-start": (event) => [
    `run: ${event.workflow} in ${event.root} with ${event.agent}${
      event.folder === "" ? "" : `, logs in ${event.folder}`
    }`,
  ],
  "step-start": (event) => [`${event.step}: ${event.title}`],
  "step-end": (event) => [`${event.step}: ${event.status}${event.message === undefined ? "" : `, ${event.message}`}`],
  "iteration-start": (event) => {
    const place = event.total === null ? "" : `, ${event.passed} of ${event.total} done`;
    return [`${event.item.kind} ${event.item.id}: ${event.item.title} (attempt ${event.attempt}${place})`];
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
        ...tailLines(event.tail, TAIL_LINES).map((line) => `    ${line}`),
      ],
  "tests-changed": (event) => [
    `  warning: tests changed${event.blocked ? ", the attempt fails" : ""}:`,
    ...event.findings.map((line) => `    ${line}`),
  ],
  "iteration-end": (
    event,
  ) => [`${event.item.kind} ${event.item.id}: ${iterationText(event)} (${formatDuration(event.durationMs)})`],
  "hook-start": (event) => [`  hook ${event.hook} (iteration ${event.iteration}): started, log in ${event.log}`],
  "hook-end": (event) => [`  ${hookText(event)} (${formatDuration(event.durationMs)})`],
  "sandbox": (event) => [event.on ? sandboxText(event) : `warning: ${sandboxText(event)}`],
  "host-refused": (event) => [`  warning: ${refusedText(event)}`],
  "state-restored": (event) => [`  warning: restored, edited manually: ${event.paths.join(", ")}`],
  "landing-start": none,
  "landing-end": (event) => [`  ${landingTone(event) === "good" ? "" : "warning: "}${landingText(event)}`],
  "items-reopened": (event) => [`  warning: the final check sends back ${event.ids.join(", ")}`],
  "trespass": (event) => [trespassText(event), ...tailLines(event.diff, DIFF_LINES).map((line) => `    ${line}`)],
  "commit": (event) => [`  commit ${event.commit.slice(0, 7)}: ${event.subject}`],
  "steered": (event) => [steeredText(event)],
  "pause-start": () => [PAUSED],
  "pause-end": (event) => [`continues after ${formatDuration(event.pausedMs)}`],
  "text": (event) => [`${event.title}`, ...event.lines.map((line) => `  ${line}`.trimEnd())],
  "note": (event) => [`${event.level === "warn" ? "warning: " : ""}${event.message}`],
  "agent-text": (event) => event.text.trimEnd().split("\n").map((line) => `    ${line}`),
  "answer": (event) =>
    event.source === "terminal" || event.source === "stdin"
      ? []
      : [`answer ${event.id}: ${event.answer} (${event.source})`],
  "wait-start": waitLines,
  "wait-delta": waitLines,
  "wait-end": (event) =>
    event.interrupted ? [] : [`  ${event.agent}: waited ${formatDuration(event.waitedMs)}, continuing`],
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
  "question": none,
  "run-end": none,
};

function waitLines(event: Extract<RalphEvent, { type: "wait-start" | "wait-delta" }>): readonly string[] {
  return [`  ${waitText(event)}`];
}

function agentLines(event: AgentEvent): readonly string[] {
  const words = agentText(event);
  return words === null ? [] : [`    ${words}`];
}
