import * as adapter from "../adapter.ts";
import * as events from "../events.ts";
import { failureKind, retryEvents } from "../failures.ts";
import { at, listAt, numberAt, sumOf, textAt } from "../json.ts";

/** `pi -p --mode json`: the prompt on standard input. The model is `provider/model`; it asks for no approval. */
function piArguments(options: adapter.AdapterOptions): adapter.AdapterInvocation {
  const { arguments: list, ...settings } = settingsOf(options);
  return { arguments: ["-p", "--mode", "json", ...list], input: options.prompt, ...settings };
}

/** `pi` in the terminal. */
function piInteractive(options: adapter.AdapterOptions): adapter.AdapterInvocation {
  const { arguments: list, ...settings } = settingsOf(options);
  return { arguments: [...list, options.prompt], input: null, ...settings };
}

const API_NAMES = {
  chat: "openai-completions",
  responses: "openai-responses",
  anthropic: "anthropic-messages",
  google: "google-generative-ai",
} as const;

/** With an endpoint it gets a folder of settings of its own, which names the server and the variable of its key. */
function settingsOf({ model, reasoning, endpoint, folder }: adapter.AdapterOptions) {
  if (endpoint === undefined) return { arguments: choices(model, reasoning) };
  const { url, api, keyVariable, context, output, images, price } = endpoint;
  const cost = price === null ? undefined : {
    input: price.input,
    output: price.output,
    cacheRead: price.cachedInput ?? price.input,
    cacheWrite: price.input,
  };
  const offered = {
    id: endpoint.model,
    reasoning: reasoning !== null,
    input: images === true ? ["text", "image"] : ["text"],
    ...(context === null ? {} : { contextWindow: context }),
    ...(output === null ? {} : { maxTokens: output }),
    ...(cost === undefined ? {} : { cost }),
  };
  const provider = {
    baseUrl: api === "anthropic" ? url.replace(/\/v1$/, "") : url, // it adds /v1 by itself
    api: API_NAMES[api],
    apiKey: keyVariable ?? "none",
    models: [offered],
  };
  return {
    arguments: ["--provider", "endpoint", ...choices(endpoint.model, reasoning)],
    environment: { PI_CODING_AGENT_DIR: folder },
    files: { "models.json": JSON.stringify({ providers: { endpoint: provider } }) },
  };
}

function choices(model: string | null, reasoning: string | null): readonly string[] {
  return [...adapter.flag("--model", model), ...adapter.flag("--thinking", reasoning)];
}

/** Reads `pi --mode json`. It ends with exit code 0 whatever happened: the last message's reason decides. */
function piTranslator(): adapter.Translator {
  return events.readByType({
    session: (line) => [events.startEvent(textAt(line, "id"))],
    message_end: (line) => textAt(line, "message", "role") === "assistant" ? messageEvents(at(line, "message")) : [],
    tool_execution_start: (line) => [
      events.callEvent(textAt(line, "toolCallId"), textAt(line, "toolName"), at(line, "args")),
    ],
    tool_execution_end: (line) => [
      events.resultEvent(textAt(line, "toolCallId"), at(line, "isError") !== true, at(line, "result", "content")),
    ],
    auto_retry_start(line) {
      const message = textAt(line, "errorMessage") ?? "";
      const attempt = `retry ${numberAt(line, "attempt") ?? "?"} of ${numberAt(line, "maxAttempts") ?? "?"}`;
      return retryEvents(failureKind(message), `${attempt} after ${message}`, numberAt(line, "delayMs"));
    },
    compaction_start: () => retryEvents("context", "the conversation is being compacted"),
  });
}

function messageEvents(message: unknown): readonly adapter.AgentEvent[] {
  const text = listAt(message, "content").filter((block) => textAt(block, "type") === "text")
    .map((block) => textAt(block, "text") ?? "").join("\n");
  const usage = stepUsage(at(message, "usage"));
  const why = textAt(message, "errorMessage");
  switch (textAt(message, "stopReason")) {
    case "stop":
      return [usage, ...events.textEvents(text), events.COMPLETED];
    case "length":
      return [usage, ...events.textEvents(text), events.cutOffEvent("its answer was cut off (length)")];
    case "error":
      return [usage, ...events.failedEvents(why)];
    case "aborted":
      return [usage, ...events.failedEvents(why ?? "aborted", "interrupted")];
    default:
      return [usage, ...events.textEvents(text)];
  }
}

/** A model without a price costs 0 by its count: that is not known, not nothing. */
function stepUsage(usage: unknown): adapter.AgentEvent {
  const cached = numberAt(usage, "cacheRead");
  const cost = numberAt(usage, "cost", "total");
  const isFree = cost === 0 && (numberAt(usage, "totalTokens") ?? 0) !== 0;
  return events.usageEvent("step", {
    inputTokens: sumOf(numberAt(usage, "input"), cached, numberAt(usage, "cacheWrite")),
    outputTokens: numberAt(usage, "output"),
    cachedTokens: cached,
    costUsd: isFree ? null : cost,
  });
}

/** How `pi` is called, and how its stream is read. */
export const DRIVER: adapter.Driver = {
  arguments: piArguments,
  interactive: piInteractive,
  translator: piTranslator,
  // Each repeats the whole message so far: they are most of what it prints, and `message_end` says it all.
  ignored: [
    '{"type":"message_update"',
    '{"type":"message_start"',
    '{"type":"turn_end"',
    '{"type":"agent_end"',
    '{"type":"tool_execution_update"',
  ],
};
