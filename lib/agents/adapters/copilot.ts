import { join } from "node:path";
import type { AdapterInvocation, AdapterOptions, Driver } from "../adapter.ts";
import type { Usage } from "../../backlog/types.ts";
import { createDeltas } from "../deltas.ts";
import type { AgentEvent, FailureKind, Translator } from "../stream_item.ts";
import { failureEvents, failureKind, retryEvents } from "../failures.ts";
import { at, inputText, listAt, numberAt, outputText, sumOf, textAt } from "../json.ts";

/** Where the program writes what it used: its stream does not say. */
const COPILOT_USAGE_FILE = "usage.json";

/** `copilot --output-format json`: the prompt on standard input. */
function copilotArguments({ prompt, model, reasoning, folder }: AdapterOptions): AdapterInvocation {
  return {
    arguments: [
      "--allow-all",
      "--no-ask-user",
      "--no-color",
      "--output-format",
      "json",
      "--usage-output-file",
      join(folder, COPILOT_USAGE_FILE),
      ...choices(model, reasoning),
    ],
    input: prompt,
    environment: { COPILOT_AUTO_UPDATE: "false" },
  };
}

/** `copilot -i` in the terminal, with its own questions. */
function copilotInteractive({ prompt, model, reasoning }: AdapterOptions): AdapterInvocation {
  return { arguments: [...choices(model, reasoning), "-i", prompt], input: null };
}

function choices(model: string | null, reasoning: string | null): readonly string[] {
  return [
    ...(model === null ? [] : ["--model", model]),
    ...(reasoning === null ? [] : ["--reasoning-effort", reasoning]),
  ];
}

/** Lines that come by the hundred and say nothing of the turn. */
const COPILOT_IGNORED: readonly string[] = [
  '{"type":"session.background_tasks_changed"',
  '{"type":"session.skills_loaded"',
  '{"type":"assistant.tool_call_delta"',
  '{"type":"tool.shell_output"',
  '{"type":"tool.execution_partial_result"',
];

/** Reads `copilot --output-format json`. The prompt comes back as `user.message`. */
function copilotTranslator(): Translator {
  const words = createDeltas();
  let failed = false;

  function push(line: unknown): readonly AgentEvent[] {
    switch (textAt(line, "type")) {
      case "session.start":
        return [{
          type: "agent-start",
          session: textAt(line, "data", "sessionId"),
          model: textAt(line, "data", "selectedModel"),
        }];
      case "session.tools_updated":
        return [{ type: "agent-start", session: null, model: textAt(line, "data", "model") }];
      case "assistant.message_delta":
        return words.add(textAt(line, "data", "deltaContent"));
      case "assistant.message_start":
      case "assistant.turn_retry":
        return [...dropped(), ...turnRetry(line)];
      case "assistant.message":
        words.drop();
        // A subagent's words belong to the call that started it.
        return textAt(line, "data", "parentToolCallId") === null ? text(textAt(line, "data", "content")) : [];
      case "tool.execution_start":
        return [{
          type: "agent-tool-call",
          id: textAt(line, "data", "toolCallId"),
          tool: textAt(line, "data", "toolName") ?? "tool",
          input: inputText(at(line, "data", "arguments")),
        }];
      case "tool.execution_complete":
        return toolEvents(at(line, "data"));
      case "session.error": {
        failed = true;
        const message = textAt(line, "data", "message") ?? "it gave no reason";
        return failureEvents(kindOf(at(line, "data"), message), message);
      }
      case "auto_mode_switch.requested": {
        const seconds = numberAt(line, "data", "retryAfterSeconds");
        return retryEvents("rate-limit", "the model's limit is reached", seconds === null ? null : seconds * 1000);
      }
      case "abort":
        failed = true;
        return failureEvents("interrupted", `it was interrupted (${textAt(line, "data", "reason") ?? "no reason"})`);
      case "result":
        return endEvents(line, failed);
      default:
        return [];
    }
  }

  function dropped(): readonly AgentEvent[] {
    words.drop();
    return [];
  }

  return { push, end: () => words.flush() };
}

function text(content: string | null): readonly AgentEvent[] {
  return content === null || content === "" ? [] : [{ type: "agent-text", text: content }];
}

function turnRetry(line: unknown): readonly AgentEvent[] {
  if (textAt(line, "type") !== "assistant.turn_retry") return [];
  const reason = textAt(line, "data", "reason") ?? "unknown";
  return retryEvents(RETRIES[reason] ?? "other", `retry after ${reason}`);
}

const RETRIES: Readonly<Record<string, FailureKind>> = {
  rate_limit: "rate-limit",
  api_error: "server",
  streaming_error: "network",
  transient_auth_error: "auth",
  forced_compaction: "context",
};

const ERRORS: Readonly<Record<string, FailureKind>> = {
  rate_limit: "rate-limit",
  quota: "rate-limit",
  authentication: "auth",
  context_limit: "context",
};

function kindOf(data: unknown, message: string): FailureKind {
  const code = textAt(data, "errorCode") ?? "";
  if (/billing/.test(code)) return "billing";
  const kind = failureKind(message, numberAt(data, "statusCode"));
  if (kind === "billing" || kind === "model" || kind === "context") return kind;
  return ERRORS[textAt(data, "errorType") ?? ""] ?? kind;
}

function toolEvents(data: unknown): readonly AgentEvent[] {
  const exit = numberAt(data, "shellExecution", "exitCode");
  const ok = at(data, "success") === true && (exit === null || exit === 0);
  const output = outputText(at(data, "result", "content") ?? textAt(data, "error", "message"));
  return [
    { type: "agent-tool-result", id: textAt(data, "toolCallId"), ok, output },
    ...listAt(data, "fileEdits").map((edit): AgentEvent => {
      const kind = textAt(edit, "kind");
      return {
        type: "agent-file-change",
        path: textAt(edit, "path") ?? "",
        change: kind === "create" ? "added" : kind === "delete" ? "deleted" : "changed",
      };
    }),
  ];
}

/** Only this has the session's id. */
function endEvents(line: unknown, failed: boolean): readonly AgentEvent[] {
  const start: AgentEvent = { type: "agent-start", session: textAt(line, "sessionId"), model: null };
  if (failed) return [start];
  const code = numberAt(line, "exitCode");
  return code === 0
    ? [start, { type: "agent-end", status: "completed", message: null }]
    : [start, { type: "agent-end", status: "failed", message: `it ended with exit code ${code ?? "unknown"}` }];
}

/** Reads the file of `--usage-output-file`. Its cost is a multiplier of the plan, not money. */
function copilotUsage(file: string): Usage | null {
  let parsed: unknown;
  try {
    parsed = JSON.parse(file);
  } catch {
    return null;
  }
  const metrics = at(parsed, "modelMetrics");
  const models: readonly unknown[] = typeof metrics === "object" && metrics !== null ? Object.values(metrics) : [];
  if (models.length === 0) return null;
  const sum = (key: string): number | null => sumOf(...models.map((model) => numberAt(model, "usage", key)));
  return {
    inputTokens: sum("inputTokens"),
    outputTokens: sum("outputTokens"),
    cachedTokens: sum("cacheReadTokens"),
    reasoningTokens: sum("reasoningTokens"),
    costUsd: null,
    estimated: false,
  };
}

/** How `copilot` is called, and how its stream is read. */
export const DRIVER: Driver = {
  arguments: copilotArguments,
  interactive: copilotInteractive,
  translator: copilotTranslator,
  ignored: COPILOT_IGNORED,
  usageFile: { name: COPILOT_USAGE_FILE, read: copilotUsage },
};
