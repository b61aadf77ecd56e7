import type { RalphEvent } from "../events/types.ts";
import {
  agentWords,
  checkWords,
  hookWords,
  iterationTone,
  iterationWords,
  tailLines,
  usageWords,
  waitWords,
} from "./event_words.ts";
import { formatDuration } from "./format_duration.ts";
import type { Style } from "./style.ts";

const TAIL_LINES = 12;

/** An event as lines for a terminal: an item a block, its turn, checks and commits below it. */
export function richLines(event: RalphEvent, style: Style): readonly string[] {
  const { bold, dim, good, bad, warn, accent, symbols } = style;
  const indented = (mark: string, text: string): string => `  ${mark} ${text}`;
  switch (event.type) {
    case "run-start":
      return [
        `${accent(symbols.start)} ${bold(event.workflow)} ${
          dim(`${symbols.dot} ${event.agent} ${symbols.dot} ${event.root}`)
        }`,
        ...(event.folder === "" ? [] : [indented(" ", dim(`logs in ${event.folder}`))]),
      ];
    case "step-start":
      return ["", `${accent(symbols.start)} ${bold(event.title)}`];
    case "step-end":
      return event.message === undefined ? [] : [indented(dim(symbols.dot), event.message)];
    case "iteration-start": {
      const place = event.total === null ? "" : ` ${symbols.dot} ${event.passed}/${event.total} done`;
      const attempt = event.attempt > 1 ? ` ${symbols.dot} ${warn(`attempt ${event.attempt}`)}` : "";
      return ["", `${accent(symbols.start)} ${bold(event.item.id)}  ${event.item.title}${dim(place)}${attempt}`];
    }
    case "turn-end": {
      const words = [formatDuration(event.durationMs), usageWords(event.usage)].filter(Boolean).join(", ");
      const failed = event.reason === "completed" ? "" : ` ${bad(event.message ?? event.reason)}`;
      return [indented(dim(symbols.bar), `${dim(`agent ${event.agent} ${words}`)}${failed}`)];
    }
    case "check-end":
      if (event.beforeWork === true) {
        return event.ok ? [indented(warn(symbols.warning), `${event.name} ${dim("passes before the work")}`)] : [];
      }
      return event.ok ? [indented(good(symbols.passed), `${event.name} ${dim(formatDuration(event.durationMs))}`)] : [
        indented(
          bad(symbols.failed),
          `${event.name} ${dim(formatDuration(event.durationMs))} ${bad(checkWords(event))}`,
        ),
        ...tailLines(event.tail, TAIL_LINES).map((line) => indented(" ", `${dim(symbols.bar)} ${line}`)),
      ];
    case "tests-weakened":
      return [
        indented(warn(symbols.warning), warn(`tests weakened${event.blocked ? ", the attempt fails" : ""}`)),
        ...event.findings.map((line) => indented(" ", `${dim(symbols.bar)} ${line}`)),
      ];
    case "iteration-end": {
      const paint = { good, warn, bad }[iterationTone(event)];
      const mark = { good: symbols.passed, warn: symbols.open, bad: symbols.failed }[iterationTone(event)];
      return [
        indented(paint(mark), `${paint(iterationWords(event))} ${dim(`in ${formatDuration(event.durationMs)}`)}`),
      ];
    }
    case "hook-end": {
      const [paint, mark] = event.status === "completed" ? [good, symbols.passed] : [warn, symbols.warning];
      return [indented(paint(mark), `${hookWords(event)} ${dim(formatDuration(event.durationMs))}`)];
    }
    case "state-put-back":
      return [indented(warn(symbols.warning), warn(`put back, edited manually: ${event.paths.join(", ")}`))];
    case "items-reopened":
      return [indented(warn(symbols.warning), warn(`the final check sends back ${event.ids.join(", ")}`))];
    case "commit":
      return [indented(accent(symbols.commit), `${dim(event.commit.slice(0, 7))} ${event.subject}`)];
    case "text":
      return ["", bold(event.title), ...event.lines.map((line) => `  ${line}`)];
    case "note":
      return event.level === "warn"
        ? [indented(warn(symbols.warning), warn(event.message))]
        : [indented(dim(symbols.dot), event.message)];
    case "agent-text":
      return event.text.trimEnd().split("\n").map((line) => indented(dim(symbols.bar), dim(line)));
    case "answer":
      return event.source === "terminal" || event.source === "stdin"
        ? []
        : [indented(dim(symbols.dot), dim(`${event.id}: ${event.answer} (${event.source})`))];
    case "turn-start":
      return [
        indented(
          dim(symbols.bar),
          dim(`agent ${event.agent} at work${symbols.ellipsis} transcript in ${event.transcript}`),
        ),
      ];
    case "wait-start":
    case "wait-delta":
      return [indented(warn(symbols.open), warn(waitWords(event)))];
    case "wait-end":
      return event.interrupted
        ? []
        : [indented(dim(symbols.dot), dim(`${event.agent} waited ${formatDuration(event.waitedMs)}, continuing`))];
    case "agent-tool-call":
    case "agent-file-change":
    case "agent-rate-limit":
    case "agent-error":
    case "agent-line-invalid": {
      const words = agentWords(event);
      return words === null ? [] : [indented(dim(symbols.dot), dim(words))];
    }
    case "agent-start":
    case "agent-tool-result":
    case "agent-usage":
    case "agent-end":
    case "check-start":
    case "hook-start":
    case "question":
    case "run-end":
      return [];
  }
}
