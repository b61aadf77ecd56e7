import { type AgentEvent, callsOf, type Driver, type FailureKind, type Translator } from "../adapter.ts";
import type { Usage } from "../../backlog/types.ts";
import * as claude from "../claude_shape.ts";
import { cutOffEvent, failedEvents, readByType, usageEvent } from "../events.ts";
import { failureKind, retryEvents } from "../failures.ts";
import { at, listAt, numberAt, sumOf, textAt, valuesAt } from "../json.ts";

/** Tools that ask a person, plan instead of working, or continue after the turn has ended. */
const DENIED = ["AskUserQuestion", "EnterPlanMode", "ExitPlanMode", "ScheduleWakeup", "Monitor", "CronCreate"];

/** Reads `claude -p --output-format stream-json`. */
function claudeTranslator(): Translator {
  let untilMs: number | null = null;
  let errorName: string | null = null;
  let counted: string | null = null;

  /** What a message has used so far, which comes with each of its blocks: a turn that is ended has no result line. */
  function messageUsage(line: unknown): readonly AgentEvent[] {
    const id = textAt(line, "message", "id");
    const usage = at(line, "message", "usage");
    if (id === counted || usage === undefined) return [];
    counted = id;
    return [usageEvent("step", claude.anthropicUsage(usage))];
  }

  function limitEvents(line: unknown): readonly AgentEvent[] {
    const info = at(line, "rate_limit_info");
    const status = textAt(info, "status");
    if (status !== "rejected" && status !== "allowed_warning") return [];
    const seconds = numberAt(info, "resetsAt");
    const rejected = status === "rejected" && at(info, "isUsingOverage") !== true;
    const resetMs = seconds === null ? null : seconds * 1000;
    if (rejected) untilMs = resetMs;
    const used = numberAt(info, "utilization");
    const share = used === null || used > 1 ? "" : ` (${Math.round(used * 100)} % used)`;
    const kind = (textAt(info, "rateLimitType") ?? "usage").replaceAll("_", " ");
    const message = `${kind} limit ${rejected ? "reached" : "near"}${share}`;
    // The result says whether it gave up: a rejected window may be retried.
    return [{ type: "agent-rate-limit", status: "warning", untilMs: resetMs, waitMs: null, message }];
  }

  return readByType({
    system: systemEvents,
    rate_limit_event: limitEvents,
    assistant(line) {
      const error = textAt(line, "error");
      if (error === null && textAt(line, "message", "model") !== "<synthetic>") {
        return [...claude.assistantEvents(line), ...messageUsage(line)];
      }
      errorName = error; // the program's message, not the model's: the result line says whether it was the end
      return [];
    },
    user: claude.toolResultEvents,
    result(line, answer) {
      const usage = usageEvent("total", totalUsage(line, numberAt(line, "total_cost_usd")));
      if (!claude.isSuccess(line)) {
        const message = textAt(line, "result") ??
          (listAt(line, "errors").map(String).join("; ") || "it gave no reason");
        return [usage, ...failedEvents(message, kindOf(line, errorName, message), { untilMs })];
      }
      return [usage, ...resultEvents(line, answer)];
    },
  });
}

const CUT_OFF: Readonly<Record<string, string>> = {
  tool_use: "it stopped in the middle of a tool call",
  max_tokens: "its answer was cut off (max_tokens)",
};

function resultEvents(line: unknown, answer: string): readonly AgentEvent[] {
  const message = CUT_OFF[textAt(line, "stop_reason") ?? ""];
  const events = claude.completedEvents(textAt(line, "result"), answer);
  return message === undefined ? events : [...events.slice(0, -1), cutOffEvent(message)];
}

function systemEvents(line: unknown): readonly AgentEvent[] {
  if (textAt(line, "subtype") !== "api_retry") return claude.startEvents(line);
  const error = textAt(line, "error") ?? "unknown";
  const status = numberAt(line, "error_status");
  const attempt = `retry ${numberAt(line, "attempt") ?? "?"} of ${numberAt(line, "max_retries") ?? "?"}`;
  const message = `${attempt} after ${error}${status === null ? "" : ` (${status})`}`;
  const kind = status === 429 ? "rate-limit" : KINDS[error] ?? "network";
  return retryEvents(kind, message, numberAt(line, "retry_delay_ms"));
}

const KINDS: Readonly<Record<string, FailureKind>> = {
  authentication_failed: "auth",
  oauth_org_not_allowed: "auth",
  billing_error: "billing",
  rate_limit: "rate-limit",
  overloaded: "server",
  server_error: "server",
  model_not_found: "model",
};

function kindOf(line: unknown, errorName: string | null, message: string): FailureKind {
  const why = textAt(line, "terminal_reason");
  const subtype = textAt(line, "subtype") ?? "";
  if (why === "prompt_too_long") return "context";
  if (why === "max_turns" || why === "budget_exhausted" || subtype.startsWith("error_max_")) return "own-limit";
  if (why?.startsWith("aborted") === true) return "interrupted";
  const kind = failureKind(message, numberAt(line, "api_error_status"));
  if (kind !== "other") return kind;
  return KINDS[errorName ?? ""] ?? (textAt(line, "api_error") === "connection_failed" ? "network" : "other");
}

/** The sums of all models used are in `modelUsage`; `usage` leaves some out. */
function totalUsage(line: unknown, costUsd: number | null): Usage {
  const models = valuesAt(line, "modelUsage");
  const plain = claude.anthropicUsage(at(line, "usage"), costUsd);
  if (models.length === 0) return plain;
  const sum = (key: string): number | null => sumOf(...models.map((model) => numberAt(model, key)));
  const cached = sum("cacheReadInputTokens");
  return {
    ...plain,
    inputTokens: sumOf(sum("inputTokens"), cached, sum("cacheCreationInputTokens")),
    outputTokens: sum("outputTokens"),
    cachedTokens: cached,
    reasoningTokens: sum("thinkingTokens") ?? plain.reasoningTokens,
  };
}

/** How `claude` is called, and how its stream is read. */
export const DRIVER: Driver = {
  ...callsOf({
    first: [
      "-p",
      "--output-format",
      "stream-json",
      "--verbose",
      "--dangerously-skip-permissions",
      // Takes any number of values: without `=` it would swallow what follows.
      `--disallowedTools=${DENIED.join(",")}`,
    ],
    model: "--model",
    reasoning: "--effort",
    environment: {
      CLAUDECODE: undefined,
      CLAUDE_CODE_ENTRYPOINT: undefined,
      CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: "1",
      CLAUDE_CODE_PRINT_BG_WAIT_CEILING_MS: "0",
      DISABLE_AUTOUPDATER: "1",
    },
    terminal: [],
    terminalEnvironment: { CLAUDECODE: undefined },
  }),
  translator: claudeTranslator,
  ignored: ['{"type":"stream_event"'],
};
