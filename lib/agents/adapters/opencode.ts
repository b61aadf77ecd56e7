import * as adapter from "../adapter.ts";
import type { ReadyEndpoint } from "../ask_endpoint.ts";
import * as events from "../events.ts";
import { failureKind } from "../failures.ts";
import { at, numberAt, sumOf, textAt } from "../json.ts";

function named(model: string | null, endpoint: ReadyEndpoint | undefined): readonly string[] {
  return adapter.flag("-m", endpoint === undefined ? model : `endpoint/${endpoint.model}`);
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
function opencodeTranslator(): adapter.Translator {
  let started = false;
  const lines = events.readByType({
    // Compaction writes into the conversation, too: that is no word of the agent.
    text: (line) =>
      at(line, "part", "synthetic") === true ? [] : [{ type: "agent-text", text: textAt(line, "part", "text") ?? "" }],
    tool_use: (line) => toolEvents(at(line, "part")),
    step_finish: (line) => finishEvents(at(line, "part")),
    error: (line) => errorEvents(at(line, "error")),
  });
  return {
    push(line) {
      const session = textAt(line, "sessionID");
      if (started || session === null) return lines.push(line);
      started = true;
      return [events.startEvent(session), ...lines.push(line)];
    },
  };
}

/** A tool is reported once, when it is done. A failed command is `completed` too: its exit code decides. */
function toolEvents(part: unknown): readonly adapter.AgentEvent[] {
  const id = textAt(part, "callID");
  const state = at(part, "state");
  const ok = textAt(state, "status") === "completed" && (numberAt(state, "metadata", "exit") ?? 0) === 0;
  return [
    events.callEvent(id, textAt(part, "tool"), at(state, "input")),
    events.resultEvent(id, ok, at(state, "output") ?? at(state, "error")),
  ];
}

function finishEvents(part: unknown): readonly adapter.AgentEvent[] {
  const tokens = at(part, "tokens");
  const read = numberAt(tokens, "cache", "read");
  const reasoning = numberAt(tokens, "reasoning");
  const usage = events.usageEvent("step", {
    inputTokens: sumOf(numberAt(tokens, "input"), read, numberAt(tokens, "cache", "write")),
    outputTokens: sumOf(numberAt(tokens, "output"), reasoning),
    cachedTokens: read,
    reasoningTokens: reasoning,
    costUsd: numberAt(part, "cost"),
  });
  const reason = textAt(part, "reason");
  if (reason === "stop") return [usage, events.COMPLETED];
  return reason === "length" ? [usage, events.cutOffEvent("its answer was cut off (length)")] : [usage];
}

const ERRORS: Readonly<Record<string, adapter.FailureKind>> = {
  ContextOverflowError: "context",
  ProviderAuthError: "auth",
};
function errorEvents(error: unknown): readonly adapter.AgentEvent[] {
  const name = textAt(error, "name") ?? "";
  const message = textAt(error, "data", "message") ?? textAt(error, "name") ?? "it gave no reason";
  const words = name === "ProviderModelNotFoundError" ? `${name} ${message}` : message;
  const kind = ERRORS[name] ?? failureKind(words, numberAt(error, "data", "statusCode") ?? undefined);
  const seconds = Number(textAt(error, "data", "responseHeaders", "retry-after") ?? Number.NaN);
  return events.failedEvents(message, kind, { waitMs: Number.isFinite(seconds) ? seconds * 1000 : null });
}

/** How `opencode` is called, and how its stream is read. The model is `provider/model`. */
export const DRIVER: adapter.Driver = {
  arguments: ({ prompt, model, reasoning, endpoint }) => ({
    arguments: [
      "run",
      "--auto",
      "--format",
      "json",
      ...named(model, endpoint),
      ...adapter.flag("--variant", reasoning),
    ],
    input: prompt,
    environment: { OPENCODE_DISABLE_AUTOUPDATE: "1", ...settingsOf(endpoint) },
  }),
  interactive: ({ prompt, model, endpoint }) => ({
    arguments: [...named(model, endpoint), "--prompt", prompt],
    input: null,
    environment: settingsOf(endpoint),
  }),
  translator: opencodeTranslator,
};
