import type { AdapterInvocation, AdapterOptions, Driver } from "../adapter.ts";
import type { AgentEvent, Translator } from "../stream_item.ts";
import { failureEvents, failureKind, retryEvents } from "../failures.ts";
import { at, inputText, listAt, numberAt, outputText, textAt } from "../json.ts";

/** `codex exec --json -`: the prompt on standard input. Its own sandbox fails in containers, so it has none. */
function codexArguments({ prompt, model, reasoning }: AdapterOptions): AdapterInvocation {
  return {
    arguments: [
      "exec",
      "--json",
      "--dangerously-bypass-approvals-and-sandbox",
      "--skip-git-repo-check",
      "-c",
      "check_for_update_on_startup=false",
      ...choices(model, reasoning),
      "-",
    ],
    input: prompt,
  };
}

/** `codex` in the terminal, with its own questions. */
function codexInteractive({ prompt, model, reasoning }: AdapterOptions): AdapterInvocation {
  return { arguments: [...choices(model, reasoning), prompt], input: null };
}

function choices(model: string | null, reasoning: string | null): readonly string[] {
  return [
    ...(model === null ? [] : ["-m", model]),
    ...(reasoning === null ? [] : ["-c", `model_reasoning_effort=${JSON.stringify(reasoning)}`]),
  ];
}

/** Reads `codex exec --json`. */
function codexTranslator(): Translator {
  return {
    push(line) {
      switch (textAt(line, "type")) {
        case "thread.started":
          return [{ type: "agent-start", session: textAt(line, "thread_id"), model: null }];
        case "item.started":
          return startedEvents(at(line, "item"));
        case "item.completed":
          return completedEvents(at(line, "item"));
        case "error":
          return errorEvents(textAt(line, "message") ?? "");
        case "turn.completed":
          return [usageEvent(line), { type: "agent-end", status: "completed", message: null }];
        case "turn.failed": {
          const message = textAt(line, "error", "message") ?? "it gave no reason";
          return failureEvents(failureKind(message), message);
        }
        default:
          return [];
      }
    },
    end: () => [],
  };
}

function startedEvents(item: unknown): readonly AgentEvent[] {
  const id = textAt(item, "id");
  switch (textAt(item, "type")) {
    case "command_execution":
      return [{ type: "agent-tool-call", id, tool: "shell", input: inputText(textAt(item, "command")) }];
    case "mcp_tool_call": {
      const tool = [textAt(item, "server"), textAt(item, "tool")].filter((part) => part !== null).join(".");
      return [{
        type: "agent-tool-call",
        id,
        tool: tool === "" ? "mcp" : tool,
        input: inputText(at(item, "arguments")),
      }];
    }
    case "web_search":
      return [{ type: "agent-tool-call", id, tool: "web_search", input: inputText(textAt(item, "query")) }];
    case "file_change":
      return [{
        type: "agent-tool-call",
        id,
        tool: "apply_patch",
        input: inputText(textAt(listAt(item, "changes")[0], "path")),
      }];
    default:
      return [];
  }
}

function completedEvents(item: unknown): readonly AgentEvent[] {
  const id = textAt(item, "id");
  const ok = textAt(item, "status") !== "failed";
  switch (textAt(item, "type")) {
    case "agent_message":
      return [{ type: "agent-text", text: textAt(item, "text") ?? "" }];
    case "command_execution":
      return [{
        type: "agent-tool-result",
        id,
        ok: ok && numberAt(item, "exit_code") === 0,
        output: outputText(at(item, "aggregated_output")),
      }];
    case "mcp_tool_call":
      return [{ type: "agent-tool-result", id, ok, output: outputText(at(item, "result") ?? at(item, "error")) }];
    case "web_search":
      return [{ type: "agent-tool-result", id, ok, output: "" }];
    case "file_change":
      return [
        { type: "agent-tool-result", id, ok, output: "" },
        ...(ok ? listAt(item, "changes").map(changeEvent) : []),
      ];
    case "error":
      return [{ type: "agent-error", kind: "other", fatal: false, message: textAt(item, "message") ?? "" }];
    default:
      return [];
  }
}

function changeEvent(change: unknown): AgentEvent {
  const kind = textAt(change, "kind");
  return {
    type: "agent-file-change",
    path: textAt(change, "path") ?? "",
    change: kind === "add" ? "added" : kind === "delete" ? "deleted" : "changed",
  };
}

/** `Reconnecting... n/5 (why)` is no end; an error without it comes once more as `turn.failed`. */
function errorEvents(message: string): readonly AgentEvent[] {
  return retryEvents(failureKind(message.replace(/^Reconnecting\.\.\. \S+ \((.*)\)$/, "$1")), message);
}

function usageEvent(line: unknown): AgentEvent {
  return {
    type: "agent-usage",
    scope: "total",
    usage: {
      inputTokens: numberAt(line, "usage", "input_tokens"),
      outputTokens: numberAt(line, "usage", "output_tokens"),
      cachedTokens: numberAt(line, "usage", "cached_input_tokens"),
      reasoningTokens: numberAt(line, "usage", "reasoning_output_tokens"),
      costUsd: null,
      estimated: false,
    },
  };
}

/** How `codex` is called, and how its stream is read. */
export const DRIVER: Driver = {
  arguments: codexArguments,
  interactive: codexInteractive,
  translator: codexTranslator,
  ignored: ['{"type":"item.updated"'],
};
