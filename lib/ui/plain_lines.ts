import type { RalphEvent } from "../events/types.ts";
import { agentWords, checkWords, hookWords, iterationWords, tailLines, usageWords, waitWords } from "./event_words.ts";
import { formatDuration } from "./format_duration.ts";

const TAIL_LINES = 20;

/** An event as plain text, one line where it can be: for logs, pipes and screen readers. */
export function plainLines(event: RalphEvent): readonly string[] {
  switch (event.type) {
    case "run-start":
      return [
        `run: ${event.workflow} in ${event.root} with ${event.agent}${
          event.folder === "" ? "" : `, logs in ${event.folder}`
        }`,
      ];
    case "step-start":
      return [`${event.step}: ${event.title}`];
    case "step-end":
      return [`${event.step}: ${event.status}${event.message === undefined ? "" : `, ${event.message}`}`];
    case "iteration-start": {
      const place = event.total === null ? "" : `, ${event.passed} of ${event.total} done`;
      return [`${event.item.kind} ${event.item.id}: ${event.item.title} (attempt ${event.attempt}${place})`];
    }
    case "turn-start":
      return [`  agent ${event.agent}: started, transcript in ${event.transcript}`];
    case "turn-end": {
      const words = [formatDuration(event.durationMs), usageWords(event.usage)].filter(Boolean).join(", ");
      return [
        `  agent ${event.agent}: ${event.reason} (${words})${event.message === null ? "" : `: ${event.message}`}`,
      ];
    }
    case "check-end":
      if (event.beforeWork === true) return event.ok ? [`  passes before the work: ${event.name}`] : [];
      return event.ok ? [`  check passed: ${event.name} (${formatDuration(event.durationMs)})`] : [
        `  check failed: ${event.name} (${checkWords(event)}, ${formatDuration(event.durationMs)})`,
        ...tailLines(event.tail, TAIL_LINES).map((line) => `    ${line}`),
      ];
    case "tests-weakened":
      return [
        `  warning: tests weakened${event.blocked ? ", the attempt fails" : ""}:`,
        ...event.findings.map((line) => `    ${line}`),
      ];
    case "iteration-end":
      return [`${event.item.kind} ${event.item.id}: ${iterationWords(event)} (${formatDuration(event.durationMs)})`];
    case "hook-start":
      return [`  hook ${event.hook} (iteration ${event.iteration}): started, log in ${event.log}`];
    case "hook-end":
      return [`  ${hookWords(event)} (${formatDuration(event.durationMs)})`];
    case "state-put-back":
      return [`  warning: put back, edited manually: ${event.paths.join(", ")}`];
    case "items-reopened":
      return [`  warning: the final check sends back ${event.ids.join(", ")}`];
    case "commit":
      return [`  commit ${event.commit.slice(0, 7)}: ${event.subject}`];
    case "text":
      return [`${event.title}`, ...event.lines.map((line) => `  ${line}`.trimEnd())];
    case "note":
      return [`${event.level === "warn" ? "warning: " : ""}${event.message}`];
    case "agent-text":
      return event.text.trimEnd().split("\n").map((line) => `    ${line}`);
    case "answer":
      return event.source === "terminal" || event.source === "stdin"
        ? []
        : [`answer ${event.id}: ${event.answer} (${event.source})`];
    case "wait-start":
    case "wait-delta":
      return [`  ${waitWords(event)}`];
    case "wait-end":
      return event.interrupted ? [] : [`  ${event.agent}: waited ${formatDuration(event.waitedMs)}, continuing`];
    case "agent-tool-call":
    case "agent-file-change":
    case "agent-rate-limit":
    case "agent-error":
    case "agent-line-invalid": {
      const words = agentWords(event);
      return words === null ? [] : [`    ${words}`];
    }
    case "agent-start":
    case "agent-tool-result":
    case "agent-usage":
    case "agent-end":
    case "check-start":
    case "question":
    case "run-end":
      return [];
  }
}
