import { jsonIn, words } from "../../host/data.ts";
import { type AgentEvent, callsOf, type Driver, type FailureKind, FOLDER, type Translator } from "../adapter.ts";
import type { Usage } from "../../backlog/types.ts";

import * as events from "../events.ts";
import { failureKind, retryEvents } from "../failures.ts";
import { at, listAt, numberAt, sumOf, textAt, valuesAt } from "../json.ts";
import { UNKNOWN_USAGE } from "../turn_end.ts";

/** The program writes its usage there: its stream does not say. */
const USAGE_FILE = "usage.json";

/** Reads `copilot --output-format json`. The prompt comes back as `user.message`. */
function copilotTranslator(): Translator {
  const words = new events.Deltas();
  let failed = false;
  const data = events.readByType({
    "session.start": (data) => [events.startEvent(textAt(data, "sessionId"), textAt(data, "selectedModel"))],
    "session.tools_updated": (data) => [events.startEvent(null, textAt(data, "model"))],
    "assistant.message_delta": (data) => words.add(textAt(data, "deltaContent")),
    "assistant.message_start": () => words.drop(),
    "assistant.turn_retry"(data) {
      const reason = textAt(data, "reason") ?? "unknown";
      return [...words.drop(), ...retryEvents(RETRIES[reason] ?? "other", `retry after ${reason}`)];
    },
    // A subagent's words belong to the call that started it.
    "assistant.message": (data) => [
      ...words.drop(),
      ...events.textEvents(textAt(data, "parentToolCallId") === null ? textAt(data, "content") : null),
    ],
    "tool.execution_start": (data) => [
      events.callEvent(textAt(data, "toolCallId"), textAt(data, "toolName"), at(data, "arguments")),
    ],
    "tool.execution_complete": toolEvents,
    "session.error"(data) {
      failed = true;
      const message = textAt(data, "message") ?? "it gave no reason";
      return events.failedEvents(message, kindOf(data, message));
    },
    "auto_mode_switch.requested"(data) {
      const seconds = numberAt(data, "retryAfterSeconds");
      return retryEvents("rate-limit", "the model's limit is reached", seconds === null ? null : seconds * 1000);
    },
    abort(data) {
      failed = true;
      return events.failedEvents(`it was interrupted (${textAt(data, "reason") ?? "no reason"})`, "interrupted");
    },
  }, "data");
  const ended = events.readByType({
    result: (line) => [events.startEvent(textAt(line, "sessionId")), ...(failed ? [] : [endEvent(line)])], // only this names it
  });
  return { push: (line) => [...data.push(line), ...ended.push(line)], end: () => words.flush() };
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
  if (/billing/.test(textAt(data, "errorCode") ?? "")) return "billing";
  const kind = failureKind(message, numberAt(data, "statusCode"));
  if (kind === "billing" || kind === "model" || kind === "context") return kind;
  return ERRORS[textAt(data, "errorType") ?? ""] ?? kind;
}

function toolEvents(data: unknown): readonly AgentEvent[] {
  const ok = at(data, "success") === true && (numberAt(data, "shellExecution", "exitCode") ?? 0) === 0;
  const output = at(data, "result", "content") ?? textAt(data, "error", "message");
  return [
    events.resultEvent(textAt(data, "toolCallId"), ok, output),
    ...listAt(data, "fileEdits").map(events.changeEvent),
  ];
}

function endEvent(line: unknown): AgentEvent {
  const code = numberAt(line, "exitCode");
  const message = `it ended with exit code ${code ?? "unknown"}`;
  return code === 0 ? events.COMPLETED : { type: "agent-end", status: "failed", message };
}

/** Reads the file of `--usage-output-file`. Its cost is a multiplier of the plan, not money. */
function copilotUsage(file: string): Usage | null {
  const models = valuesAt(jsonIn(file), "modelMetrics");
  if (models.length === 0) return null;
  const sum = (key: string): number | null => sumOf(...models.map((model) => numberAt(model, "usage", key)));
  return {
    ...UNKNOWN_USAGE,
    inputTokens: sum("inputTokens"),
    outputTokens: sum("outputTokens"),
    cachedTokens: sum("cacheReadTokens"),
    reasoningTokens: sum("reasoningTokens"),
  };
}

/** How `copilot` is called, and how its stream is read. */
export const DRIVER: Driver = {
  ...callsOf({
    first: words(`
      --allow-all --no-ask-user --no-color --output-format json --usage-output-file ${FOLDER}/${USAGE_FILE}
    `),
    model: "--model",
    reasoning: "--reasoning-effort",
    environment: { COPILOT_AUTO_UPDATE: "false" },
    terminal: ["-i"],
  }),
  translator: copilotTranslator,
  // They come by the hundred and say nothing of the turn.
  ignored: [
    '{"type":"session.background_tasks_changed"',
    '{"type":"session.skills_loaded"',
    '{"type":"assistant.tool_call_delta"',
    '{"type":"tool.shell_output"',
    '{"type":"tool.execution_partial_result"',
  ],
  usageFile: { name: USAGE_FILE, read: copilotUsage },
};
