import type { AdapterInvocation, AdapterOptions, Driver } from "../adapter.ts";
import type { Usage } from "../../backlog/types.ts";
import type { AgentEvent, Translator } from "../stream_item.ts";
import { failureEvents, failureKind, retryEvents } from "../failures.ts";
import { at, inputText, listAt, numberAt, outputText, sumOf, textAt } from "../json.ts";

/** `pi -p --mode json`: the prompt on standard input. The model is `provider/model`; it asks for no approval. */
function piArguments(options: AdapterOptions): AdapterInvocation {
  const { arguments: list, ...settings } = settingsOf(options);
  return { arguments: ["-p", "--mode", "json", ...list], input: options.prompt, ...settings };
}

/** `pi` in the terminal. */
function piInteractive(options: AdapterOptions): AdapterInvocation {
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
function settingsOf({ model, reasoning, endpoint, folder }: AdapterOptions): Omit<AdapterInvocation, "input"> {
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
  return [...(model === null ? [] : ["--model", model]), ...(reasoning === null ? [] : ["--thinking", reasoning])];
}

/** Each repeats the whole message so far: they are most of what it prints, and `message_end` says it all. */
const PI_IGNORED: readonly string[] = [
  '{"type":"message_update"',
  '{"type":"message_start"',
  '{"type":"turn_end"',
  '{"type":"agent_end"',
  '{"type":"tool_execution_update"',
];

/** Reads `pi --mode json`. It ends with exit code 0 whatever happened: the last message's reason decides. */
function piTranslator(): Translator {
  return {
    push(line) {
      switch (textAt(line, "type")) {
        case "session":
          return [{ type: "agent-start", session: textAt(line, "id"), model: null }];
        case "message_end":
          return textAt(line, "message", "role") === "assistant" ? messageEvents(at(line, "message")) : [];
        case "tool_execution_start":
          return [{
            type: "agent-tool-call",
            id: textAt(line, "toolCallId"),
            tool: textAt(line, "toolName") ?? "tool",
            input: inputText(at(line, "args")),
          }];
        case "tool_execution_end":
          return [{
            type: "agent-tool-result",
            id: textAt(line, "toolCallId"),
            ok: at(line, "isError") !== true,
            output: outputText(at(line, "result", "content")),
          }];
        case "auto_retry_start": {
          const message = textAt(line, "errorMessage") ?? "";
          const attempt = `retry ${numberAt(line, "attempt") ?? "?"} of ${numberAt(line, "maxAttempts") ?? "?"}`;
          return retryEvents(failureKind(message), `${attempt} after ${message}`, numberAt(line, "delayMs"));
        }
        case "compaction_start":
          return retryEvents("context", "the conversation is being compacted");
        default:
          return [];
      }
    },
    end: () => [],
  };
}

function messageEvents(message: unknown): readonly AgentEvent[] {
  const text = listAt(message, "content").filter((block) => textAt(block, "type") === "text")
    .map((block) => textAt(block, "text") ?? "").join("\n");
  const usage: AgentEvent = { type: "agent-usage", scope: "step", usage: stepUsage(at(message, "usage")) };
  const reason = textAt(message, "stopReason");
  const words: readonly AgentEvent[] = text === "" || reason === "error" || reason === "aborted"
    ? []
    : [{ type: "agent-text", text }];
  switch (reason) {
    case "stop":
      return [usage, ...words, { type: "agent-end", status: "completed", message: null }];
    case "length":
      return [usage, ...words, { type: "agent-end", status: "cut-off", message: "its answer was cut off (length)" }];
    case "error": {
      const why = textAt(message, "errorMessage") ?? "it gave no reason";
      return [usage, ...failureEvents(failureKind(why), why)];
    }
    case "aborted":
      return [usage, ...failureEvents("interrupted", textAt(message, "errorMessage") ?? "aborted")];
    default:
      return [usage, ...words];
  }
}

/** A model without a price costs 0 by its count: that is not known, not nothing. */
function stepUsage(usage: unknown): Usage {
  const cached = numberAt(usage, "cacheRead");
  const cost = numberAt(usage, "cost", "total");
  const tokens = numberAt(usage, "totalTokens") ?? 0;
  const hasPrice = cost !== null && (cost > 0 || tokens === 0);
  return {
    inputTokens: sumOf(numberAt(usage, "input"), cached, numberAt(usage, "cacheWrite")),
    outputTokens: numberAt(usage, "output"),
    cachedTokens: cached,
    reasoningTokens: null,
    costUsd: hasPrice ? cost : null,
    estimated: hasPrice,
  };
}

/** How `pi` is called, and how its stream is read. */
export const DRIVER: Driver = {
  arguments: piArguments,
  interactive: piInteractive,
  translator: piTranslator,
  ignored: PI_IGNORED,
};
