import type { Driver } from "../adapter.ts";
import { callsOf } from "../calls.ts";
import {
  callEvent,
  changeEvent,
  COMPLETED,
  errorEvent,
  failedEvents,
  readByType,
  resultEvent,
  startEvent,
  usageEvent,
} from "../events.ts";
import { failureKind, retryEvents } from "../failures.ts";
import { at, listAt, numberAt, textAt } from "../json.ts";
import type { AgentEvent, Translator } from "../stream_item.ts";

/** Reads `codex exec --json`. */
function codexTranslator(): Translator {
  return readByType({
    "thread.started": (line) => [startEvent(textAt(line, "thread_id"))],
    "item.started": (line) => startedEvents(at(line, "item")),
    "item.completed": (line) => doneEvents(at(line, "item")),
    error(line) {
      // `Reconnecting... n/5 (why)` is no end; an error without it comes once more as `turn.failed`.
      const message = textAt(line, "message") ?? "";
      return retryEvents(failureKind(message.replace(/^Reconnecting\.\.\. \S+ \((.*)\)$/, "$1")), message);
    },
    "turn.completed": (line) => [totalUsage(at(line, "usage")), COMPLETED],
    "turn.failed": (line) => failedEvents(textAt(line, "error", "message")),
  });
}

function startedEvents(item: unknown): readonly AgentEvent[] {
  const id = textAt(item, "id");
  switch (textAt(item, "type")) {
    case "command_execution":
      return [callEvent(id, "shell", textAt(item, "command"))];
    case "mcp_tool_call": {
      const tool = [textAt(item, "server"), textAt(item, "tool")].filter((part) => part !== null).join(".");
      return [callEvent(id, tool || "mcp", at(item, "arguments"))];
    }
    case "web_search":
      return [callEvent(id, "web_search", textAt(item, "query"))];
    case "file_change":
      return [callEvent(id, "apply_patch", textAt(listAt(item, "changes")[0], "path"))];
    default:
      return [];
  }
}

function doneEvents(item: unknown): readonly AgentEvent[] {
  const id = textAt(item, "id");
  const ok = textAt(item, "status") !== "failed";
  switch (textAt(item, "type")) {
    case "agent_message":
      return [{ type: "agent-text", text: textAt(item, "text") ?? "" }];
    case "command_execution":
      return [resultEvent(id, ok && numberAt(item, "exit_code") === 0, at(item, "aggregated_output"))];
    case "mcp_tool_call":
      return [resultEvent(id, ok, at(item, "result") ?? at(item, "error"))];
    case "web_search":
      return [resultEvent(id, ok, "")];
    case "file_change":
      return [resultEvent(id, ok, ""), ...(ok ? listAt(item, "changes").map(changeEvent) : [])];
    case "error":
      return [errorEvent(textAt(item, "message"), "other")];
    default:
      return [];
  }
}

function totalUsage(usage: unknown): AgentEvent {
  return usageEvent("total", {
    inputTokens: numberAt(usage, "input_tokens"),
    outputTokens: numberAt(usage, "output_tokens"),
    cachedTokens: numberAt(usage, "cached_input_tokens"),
    reasoningTokens: numberAt(usage, "reasoning_output_tokens"),
  });
}

/** `codex exec --json -`. Its own sandbox fails in containers, so it has none. */
export const DRIVER: Driver = {
  ...callsOf({
    first: [
      "exec",
      "--json",
      "--dangerously-bypass-approvals-and-sandbox",
      "--skip-git-repo-check",
      "-c",
      "check_for_update_on_startup=false",
    ],
    last: ["-"],
    model: "-m",
    reasoning: (effort) => ["-c", `model_reasoning_effort=${JSON.stringify(effort)}`],
    terminal: [],
  }),
  translator: codexTranslator,
  ignored: ['{"type":"item.updated"'],
};
