import { join } from "node:path";
import type { AdapterInvocation, AdapterOptions, Driver } from "../adapter.ts";
import { createDeltas } from "../deltas.ts";
import type { AgentEvent, Translator } from "../stream_item.ts";
import { failureEvents, failureKind } from "../failures.ts";
import { at, inputText, listAt, numberAt, outputText, textAt } from "../json.ts";

/** A longer argument is handed over as a file. */
const LONGEST_ARGUMENT = 30_000;

/**
 * `cline --json`: a short prompt as its argument, a longer one in a file that the argument points to. What is on
 * standard input it reads from some kinds of pipe only. It approves by itself.
 */
function clineArguments({ prompt, model, reasoning, folder }: AdapterOptions): AdapterInvocation {
  const isShort = Buffer.byteLength(prompt) <= LONGEST_ARGUMENT;
  const file = join(folder, "prompt.md");
  return {
    arguments: [
      "--json",
      ...(model === null ? [] : ["-m", model]),
      ...(reasoning === null ? [] : ["--thinking", reasoning]),
      // One word alone, or one that begins with a dash, it refuses.
      isShort ? `Do what follows.\n\n${prompt}` : `Read the file ${file} and do what it says.`,
    ],
    input: null,
    environment: { CLINE_NO_AUTO_UPDATE: "1" },
    ...(isShort ? {} : { files: { "prompt.md": prompt } }),
  };
}

/** Reads `cline --json`. On an error its last words are the error. */
function clineTranslator(): Translator {
  const words = createDeltas();
  let ended = false;

  function push(line: unknown): readonly AgentEvent[] {
    switch (textAt(line, "type")) {
      case "agent_event":
        return agentEvents(at(line, "event"));
      case "run_result":
        return [...words.flush(), ...resultEvents(line)];
      case "run_aborted":
        ended = true;
        return [...words.flush(), ...failureEvents("interrupted", textAt(line, "message") ?? "aborted")];
      default:
        return [];
    }
  }

  function agentEvents(event: unknown): readonly AgentEvent[] {
    const isTool = textAt(event, "contentType") === "tool";
    switch (textAt(event, "type")) {
      case "content_start":
        return isTool ? [...words.flush(), toolCall(event)] : isText(event) ? words.add(textAt(event, "text")) : [];
      case "content_end":
        if (isTool) return [toolResult(event)];
        if (!isText(event)) return [];
        words.drop();
        return textAt(event, "text") === null ? [] : [{ type: "agent-text", text: textAt(event, "text")! }];
      case "error":
        return [{
          type: "agent-error",
          kind: kindOf(textAt(event, "error", "message")),
          fatal: false,
          message: textAt(event, "error", "message") ?? "",
        }];
      case "notice":
        return [{
          type: "agent-error",
          kind: kindOf(textAt(event, "message")),
          fatal: false,
          message: textAt(event, "message") ?? "",
        }];
      default:
        return [];
    }
  }

  function resultEvents(line: unknown): readonly AgentEvent[] {
    const usage = usageEvent(line);
    const reason = textAt(line, "finishReason");
    if (reason === "completed") return [usage, { type: "agent-end", status: "completed", message: null }];
    const message = textAt(line, "text") ?? "it gave no reason";
    if (reason === "aborted") return ended ? [usage] : [usage, ...failureEvents("interrupted", message)];
    return [usage, ...failureEvents(failureKind(message), message)];
  }

  return { push, end: () => words.flush() };
}

function usageEvent(line: unknown): AgentEvent {
  const usage = {
    inputTokens: numberAt(line, "usage", "inputTokens"),
    outputTokens: numberAt(line, "usage", "outputTokens"),
    cachedTokens: numberAt(line, "usage", "cacheReadTokens"),
    reasoningTokens: null,
    ...costOf(line),
  };
  return { type: "agent-usage", scope: "total", usage };
}

/** Models that it knows no price of cost 0: that is not known, not nothing. */
function costOf(line: unknown): { readonly costUsd: number | null; readonly estimated: boolean } {
  const cost = numberAt(line, "usage", "totalCost");
  return cost === null || cost === 0 ? { costUsd: null, estimated: false } : { costUsd: cost, estimated: true };
}

function isText(event: unknown): boolean {
  return textAt(event, "contentType") === "text";
}

function kindOf(message: string | null): ReturnType<typeof failureKind> {
  return message === null ? "other" : failureKind(message);
}

function toolCall(event: unknown): AgentEvent {
  return {
    type: "agent-tool-call",
    id: textAt(event, "toolCallId"),
    tool: textAt(event, "toolName") ?? "tool",
    input: inputText(at(event, "input")),
  };
}

/** One result, or one for each command. */
function toolResult(event: unknown): AgentEvent {
  const output = at(event, "output");
  const results = Array.isArray(output) ? listAt(event, "output") : [output];
  const ok = results.every((result) => at(result, "success") !== false) && textAt(event, "error") === null;
  const words = results.map((result) => outputText([at(result, "result"), at(result, "error")])).join("\n");
  return { type: "agent-tool-result", id: textAt(event, "toolCallId"), ok, output: words };
}

/** How `cline` is called, and how its stream is read. */
export const DRIVER: Driver = {
  arguments: clineArguments,
  interactive: null,
  translator: clineTranslator,
};
