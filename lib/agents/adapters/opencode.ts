import type { AdapterInvocation, AdapterOptions, Driver } from "../adapter.ts";
import type { ReadyEndpoint } from "../ask_endpoint.ts";
import type { Usage } from "../../backlog/types.ts";
import type { AgentEvent, Translator } from "../stream_item.ts";
import { failureEvents, failureKind } from "../failures.ts";
import { at, inputText, numberAt, outputText, sumOf, textAt } from "../json.ts";

/** `opencode run --auto --format json`: the prompt on standard input. The model is `provider/model`. */
function opencodeArguments({ prompt, model, reasoning, endpoint }: AdapterOptions): AdapterInvocation {
  return {
    arguments: [
      "run",
      "--auto",
      "--format",
      "json",
      ...modelArguments(model, endpoint),
      ...(reasoning === null ? [] : ["--variant", reasoning]),
    ],
    input: prompt,
    environment: { OPENCODE_DISABLE_AUTOUPDATE: "1", ...settingsOf(endpoint) },
  };
}

/** `opencode` in the terminal, with its own questions. */
function opencodeInteractive({ prompt, model, endpoint }: AdapterOptions): AdapterInvocation {
  const list = [...modelArguments(model, endpoint), "--prompt", prompt];
  return { arguments: list, input: null, environment: settingsOf(endpoint) };
}

function modelArguments(model: string | null, endpoint: ReadyEndpoint | undefined): readonly string[] {
  const name = endpoint === undefined ? model : `endpoint/${endpoint.model}`;
  return name === null ? [] : ["-m", name];
}

const PACKAGES = {
  chat: "@ai-sdk/openai-compatible",
  responses: "@ai-sdk/openai",
  anthropic: "@ai-sdk/anthropic",
  google: "@ai-sdk/google",
} as const;

/** Laid over the person's own settings; the key stays in its variable, which opencode reads. */
function settingsOf(endpoint: ReadyEndpoint | undefined): Readonly<Record<string, string>> {
  if (endpoint === undefined) return {};
  const { model, url, api, keyVariable, context, output, price } = endpoint;
  const name = `endpoint/${model}`;
  const cost = price === null
    ? {}
    : { cost: { input: price.input, output: price.output, cache_read: price.cachedInput ?? price.input } };
  const limit = context === null ? {} : { limit: { context, output: output ?? Math.min(context, 8192) } };
  const provider = {
    npm: PACKAGES[api],
    name: endpoint.name,
    options: { baseURL: url, apiKey: keyVariable === null ? "none" : `{env:${keyVariable}}` },
    models: { [model]: { name: model, ...limit, ...cost } },
  };
  return {
    OPENCODE_CONFIG_CONTENT: JSON.stringify({ model: name, small_model: name, provider: { endpoint: provider } }),
  };
}

/** Reads `opencode run --format json`. It has no last line: the last step's reason decides. */
function opencodeTranslator(): Translator {
  let started = false;

  return {
    push(line) {
      const start: readonly AgentEvent[] = started || textAt(line, "sessionID") === null
        ? []
        : [{ type: "agent-start", session: textAt(line, "sessionID"), model: null }];
      if (start.length > 0) started = true;
      return [...start, ...lineEvents(line)];
    },
    end: () => [],
  };
}

function lineEvents(line: unknown): readonly AgentEvent[] {
  switch (textAt(line, "type")) {
    case "text":
      // What compaction writes into the conversation is no word of the agent.
      if (at(line, "part", "synthetic") === true) return [];
      return [{ type: "agent-text", text: textAt(line, "part", "text") ?? "" }];
    case "tool_use":
      return toolEvents(at(line, "part"));
    case "step_finish":
      return finishEvents(at(line, "part"));
    case "error":
      return errorEvents(at(line, "error"));
    default:
      return [];
  }
}

/** A tool is reported once, when it is done. A failed command is `completed` too: its exit code decides. */
function toolEvents(part: unknown): readonly AgentEvent[] {
  const id = textAt(part, "callID");
  const exit = numberAt(part, "state", "metadata", "exit");
  const ok = textAt(part, "state", "status") === "completed" && (exit === null || exit === 0);
  const output = outputText(at(part, "state", "output") ?? at(part, "state", "error"));
  return [
    {
      type: "agent-tool-call",
      id,
      tool: textAt(part, "tool") ?? "tool",
      input: inputText(at(part, "state", "input")),
    },
    { type: "agent-tool-result", id, ok, output },
  ];
}

function finishEvents(part: unknown): readonly AgentEvent[] {
  const usage: AgentEvent = { type: "agent-usage", scope: "step", usage: stepUsage(part) };
  const reason = textAt(part, "reason");
  if (reason === "stop") return [usage, { type: "agent-end", status: "completed", message: null }];
  if (reason === "length") {
    return [usage, { type: "agent-end", status: "cut-off", message: "its answer was cut off (length)" }];
  }
  return [usage];
}

function stepUsage(part: unknown): Usage {
  const input = numberAt(part, "tokens", "input");
  const read = numberAt(part, "tokens", "cache", "read");
  const write = numberAt(part, "tokens", "cache", "write");
  const reasoning = numberAt(part, "tokens", "reasoning");
  const cost = numberAt(part, "cost");
  return {
    inputTokens: sumOf(input, read, write),
    outputTokens: sumOf(numberAt(part, "tokens", "output"), reasoning),
    cachedTokens: read,
    reasoningTokens: reasoning,
    costUsd: cost,
    estimated: cost !== null,
  };
}

function errorEvents(error: unknown): readonly AgentEvent[] {
  const message = textAt(error, "data", "message") ?? textAt(error, "name") ?? "it gave no reason";
  const status = numberAt(error, "data", "statusCode");
  const name = textAt(error, "name") ?? "";
  const kind = name === "ContextOverflowError"
    ? "context"
    : name === "ProviderAuthError"
    ? "auth"
    : failureKind(`${name === "ProviderModelNotFoundError" ? `${name} ` : ""}${message}`, status ?? undefined);
  const seconds = Number(textAt(error, "data", "responseHeaders", "retry-after") ?? Number.NaN);
  return failureEvents(kind, message, { waitMs: Number.isFinite(seconds) ? seconds * 1000 : null });
}

/** How `opencode` is called, and how its stream is read. */
export const DRIVER: Driver = {
  arguments: opencodeArguments,
  interactive: opencodeInteractive,
  translator: opencodeTranslator,
};
