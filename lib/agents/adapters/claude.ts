import type { AdapterInvocation, AdapterOptions, Driver } from "../adapter.ts";
import { anthropicUsage, assistantEvents, toolResultEvents } from "../claude_shape.ts";
import type { AgentEvent, FailureKind, Translator } from "../stream_item.ts";
import { failureEvents, failureKind, retryEvents } from "../failures.ts";
import { at, listAt, numberAt, sumOf, textAt } from "../json.ts";

/** Tools that ask a person, plan instead of working, or continue after the turn has ended. */
const DENIED = ["AskUserQuestion", "EnterPlanMode", "ExitPlanMode", "ScheduleWakeup", "Monitor", "CronCreate"];

/** `claude -p`: a stream of JSON, the prompt on standard input. */
function claudeArguments({ prompt, model, reasoning }: AdapterOptions): AdapterInvocation {
  return {
    arguments: [
      "-p",
      "--output-format",
      "stream-json",
      "--verbose",
      "--dangerously-skip-permissions",
      // Takes any number of values: without `=` it would swallow what follows.
      `--disallowedTools=${DENIED.join(",")}`,
      ...choices(model, reasoning),
    ],
    input: prompt,
    environment: {
      CLAUDECODE: undefined,
      CLAUDE_CODE_ENTRYPOINT: undefined,
      CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: "1",
      CLAUDE_CODE_PRINT_BG_WAIT_CEILING_MS: "0",
      DISABLE_AUTOUPDATER: "1",
    },
  };
}

/** `claude` in the terminal, with its own questions. */
function claudeInteractive({ prompt, model, reasoning }: AdapterOptions): AdapterInvocation {
  return { arguments: [...choices(model, reasoning), prompt], input: null, environment: { CLAUDECODE: undefined } };
}

function choices(model: string | null, reasoning: string | null): readonly string[] {
  return [...(model === null ? [] : ["--model", model]), ...(reasoning === null ? [] : ["--effort", reasoning])];
}

/** Reads `claude -p --output-format stream-json`. */
function claudeTranslator(): Translator {
  return new ClaudeTranslator();
}

class ClaudeTranslator implements Translator {
  #untilMs: number | null = null;
  #errorName: string | null = null;
  #lastText = "";

  end(): readonly AgentEvent[] {
    return [];
  }

  push(line: unknown): readonly AgentEvent[] {
    switch (textAt(line, "type")) {
      case "system":
        return systemEvents(line);
      case "rate_limit_event":
        return this.#limitEvents(line);
      case "assistant": {
        const error = textAt(line, "error");
        if (error !== null || textAt(line, "message", "model") === "<synthetic>") {
          // The program's message, not the model's: the result line says whether it was the end.
          this.#errorName = error;
          return [];
        }
        const events = assistantEvents(line);
        for (const event of events) if (event.type === "agent-text") this.#lastText = event.text;
        return events;
      }
      case "user":
        return toolResultEvents(line);
      case "result":
        return this.#resultEvents(line);
      default:
        return [];
    }
  }

  #limitEvents(line: unknown): readonly AgentEvent[] {
    const status = textAt(line, "rate_limit_info", "status");
    if (status !== "rejected" && status !== "allowed_warning") return [];
    const seconds = numberAt(line, "rate_limit_info", "resetsAt");
    const kind = textAt(line, "rate_limit_info", "rateLimitType") ?? "usage";
    const rejected = status === "rejected" && at(line, "rate_limit_info", "isUsingOverage") !== true;
    const resetMs = seconds === null ? null : seconds * 1000;
    if (rejected) this.#untilMs = resetMs;
    const used = numberAt(line, "rate_limit_info", "utilization");
    const share = used === null || used > 1 ? "" : ` (${Math.round(used * 100)} % used)`;
    return [{
      type: "agent-rate-limit",
      // The result says whether it gave up: a rejected window may be retried.
      status: "warning",
      untilMs: resetMs,
      waitMs: null,
      message: `${kind.replaceAll("_", " ")} limit ${rejected ? "reached" : "near"}${share}`,
    }];
  }

  #resultEvents(line: unknown): readonly AgentEvent[] {
    const cost = numberAt(line, "total_cost_usd");
    const usage: AgentEvent = { type: "agent-usage", scope: "total", usage: totalUsage(line, cost) };
    if (at(line, "is_error") === true || (textAt(line, "subtype") ?? "success") !== "success") {
      return [usage, ...this.#failedEvents(line)];
    }
    const result = textAt(line, "result") ?? "";
    const words: readonly AgentEvent[] = result.trim() === "" || result.trim() === this.#lastText.trim()
      ? []
      : [{ type: "agent-text", text: result }];
    const reason = textAt(line, "stop_reason");
    if (reason === "tool_use" || reason === "max_tokens") {
      const message = reason === "tool_use"
        ? "it stopped in the middle of a tool call"
        : "its answer was cut off (max_tokens)";
      return [usage, ...words, { type: "agent-end", status: "cut-off", message }];
    }
    return [usage, ...words, { type: "agent-end", status: "completed", message: null }];
  }

  #failedEvents(line: unknown): readonly AgentEvent[] {
    const message = textAt(line, "result") ?? (listAt(line, "errors").map(String).join("; ") || "it gave no reason");
    const kind = kindOf(line, this.#errorName, message);
    return failureEvents(kind, message, { untilMs: this.#untilMs });
  }
}

function systemEvents(line: unknown): readonly AgentEvent[] {
  switch (textAt(line, "subtype")) {
    case "init":
      return [{ type: "agent-start", session: textAt(line, "session_id"), model: textAt(line, "model") }];
    case "api_retry": {
      const error = textAt(line, "error") ?? "unknown";
      const status = numberAt(line, "error_status");
      const attempt = `retry ${numberAt(line, "attempt") ?? "?"} of ${numberAt(line, "max_retries") ?? "?"}`;
      const message = `${attempt} after ${error}${status === null ? "" : ` (${status})`}`;
      return retryEvents(
        status === 429 ? "rate-limit" : KINDS[error] ?? "network",
        message,
        numberAt(line, "retry_delay_ms"),
      );
    }
    default:
      return [];
  }
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
function totalUsage(line: unknown, costUsd: number | null): ReturnType<typeof anthropicUsage> {
  const byModel = at(line, "modelUsage");
  const models: readonly unknown[] = typeof byModel === "object" && byModel !== null ? Object.values(byModel) : [];
  const plain = anthropicUsage(at(line, "usage"), costUsd);
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
  arguments: claudeArguments,
  interactive: claudeInteractive,
  translator: claudeTranslator,
  ignored: ['{"type":"stream_event"'],
};
