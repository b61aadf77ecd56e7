import { join } from "node:path";
import * as adapter from "../adapter.ts";
import { callEvent, COMPLETED, Deltas, errorEvent, failedEvents, readByType, tokensAt, usageEvent } from "../events.ts";
import { at, listAt, numberAt, outputText, textAt } from "../json.ts";

/** A longer argument is handed over as a file. */
const LONGEST_ARGUMENT = 30_000;

/**
 * `cline --json`: a short prompt as its argument, a longer one in a file that the argument points to. It reads standard
 * input from some kinds of pipe only. It approves by itself.
 */
function clineArguments({ prompt, model, reasoning, folder }: adapter.AdapterOptions): adapter.AdapterInvocation {
  const isShort = Buffer.byteLength(prompt) <= LONGEST_ARGUMENT;
  const file = join(folder, "prompt.md");
  // One word alone, or one that begins with a dash, it refuses.
  const words = isShort ? `Do what follows.\n\n${prompt}` : `Read the file ${file} and do what it says.`;
  return {
    arguments: ["--json", ...adapter.flag("-m", model), ...adapter.flag("--thinking", reasoning), words],
    input: null,
    environment: { CLINE_NO_AUTO_UPDATE: "1" },
    ...(isShort ? {} : { files: { "prompt.md": prompt } }),
  };
}

/** Reads `cline --json`. On an error its last words are the error. */
function clineTranslator(): adapter.Translator {
  const words = new Deltas();
  let ended = false;
  const events = readByType({
    content_start(event) {
      if (textAt(event, "contentType") === "tool") return [...words.flush(), toolCall(event)];
      return isText(event) ? words.add(textAt(event, "text")) : [];
    },
    content_end(event) {
      if (textAt(event, "contentType") === "tool") return [toolResult(event)];
      if (!isText(event)) return [];
      words.drop();
      const text = textAt(event, "text");
      return text === null ? [] : [{ type: "agent-text", text }];
    },
    error: (event) => [errorEvent(textAt(event, "error", "message"))],
    notice: (event) => [errorEvent(textAt(event, "message"))],
    usage: (event) => [usageSoFar(event)],
  });

  function resultEvents(line: unknown): readonly adapter.AgentEvent[] {
    const reason = textAt(line, "finishReason");
    if (reason === "completed") return [COMPLETED];
    if (reason !== "aborted") return failedEvents(textAt(line, "text"));
    return ended ? [] : failedEvents(textAt(line, "text"), "interrupted");
  }

  return {
    ...readByType({
      agent_event: (line) => events.push(at(line, "event")),
      run_result: (line) => [...words.flush(), totalUsage(at(line, "usage")), ...resultEvents(line)],
      run_aborted(line) {
        ended = true;
        return [...words.flush(), ...failedEvents(textAt(line, "message") ?? "aborted", "interrupted")];
      },
    }),
    end: () => words.flush(),
  };
}

/** Models that it knows no price of cost 0: that is not known, not nothing. */
function totalUsage(usage: unknown): adapter.AgentEvent {
  return usageEvent("total", {
    ...tokensAt(usage, ["inputTokens", "outputTokens", "cacheReadTokens"]),
    costUsd: numberAt(usage, "totalCost") || null,
  });
}

/** A turn that is ended has no result line. */
function usageSoFar(event: unknown): adapter.AgentEvent {
  return usageEvent("total", {
    ...tokensAt(event, ["totalInputTokens", "totalOutputTokens", "totalCacheReadTokens"]),
    costUsd: numberAt(event, "totalCost") || null,
  });
}

function isText(event: unknown): boolean {
  return textAt(event, "contentType") === "text";
}

function toolCall(event: unknown): adapter.AgentEvent {
  return callEvent(textAt(event, "toolCallId"), textAt(event, "toolName"), at(event, "input"));
}

/** One result, or one for each command. */
function toolResult(event: unknown): adapter.AgentEvent {
  const output = at(event, "output");
  const results = Array.isArray(output) ? listAt(event, "output") : [output];
  const ok = results.every((result) => at(result, "success") !== false) && textAt(event, "error") === null;
  const words = results.map((result) => outputText([at(result, "result"), at(result, "error")])).join("\n");
  return { type: "agent-tool-result", id: textAt(event, "toolCallId"), ok, output: words };
}

/** How `cline` is called, and how its stream is read. */
export const DRIVER: adapter.Driver = { arguments: clineArguments, interactive: null, translator: clineTranslator };
