import type { AdapterInvocation, AdapterOptions, Driver } from "../adapter.ts";
import type { Usage } from "../../backlog/types.ts";
import type { AgentEvent, Translator } from "../stream_item.ts";
import { failureEvents, failureKind, retryEvents } from "../failures.ts";
import { at, inputText, listAt, numberAt, outputText, sumOf, textAt } from "../json.ts";

/** `pi -p --mode json`: the prompt on standard input. The model is `provider/model`; it asks for no approval. */
function piArguments({ prompt, model, reasoning }: AdapterOptions): AdapterInvocation {
  return { arguments: ["-p", "--mode", "json", ...choices(model, reasoning)], input: prompt };
}

/** `pi` in the terminal. */
function piInteractive({ prompt, model, reasoning }: AdapterOptions): AdapterInvocation {
  return { arguments: [...choices(model, reasoning), prompt], input: null };
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
