/**
 * The shape that claude gave its lines and that qwen, amp, cursor and droid borrowed: messages made of blocks.
 *
 * @module
 */
import type { Usage } from "../backlog/types.ts";
import type { AgentEvent } from "./adapter.ts";
import { callEvent, COMPLETED, resultEvent, startEvent, textEvents } from "./events.ts";
import { at, listAt, numberAt, sumOf, textAt } from "./json.ts";

/** The `system` line that begins a session; others are no event. */
export function startEvents(line: unknown, model: string | null = textAt(line, "model")): readonly AgentEvent[] {
  return textAt(line, "subtype") === "init" ? [startEvent(textAt(line, "session_id"), model)] : [];
}

/** The end of a turn that is done: its result, where the agent's last text does not end with it already. */
export function completedEvents(result: string | null, answer: string): readonly AgentEvent[] {
  const text = result?.trim() ?? "";
  const isRepeated = text === "" || answer.trim().endsWith(text);
  return [...textEvents(isRepeated ? null : result), COMPLETED];
}

/** A `result` line without an error. */
export function isSuccess(line: unknown): boolean {
  return at(line, "is_error") !== true && (textAt(line, "subtype") ?? "success") === "success";
}

/** The words and calls of an `assistant` line. Words of a subagent are not the agent's own. */
export function assistantEvents(line: unknown): readonly AgentEvent[] {
  const own = textAt(line, "parent_tool_use_id") === null;
  const blocks = listAt(line, "message", "content");
  const words = blocks.map((block) => own && textAt(block, "type") === "text" ? textAt(block, "text") ?? "" : "");
  const calls = blocks.filter((block) => textAt(block, "type") === "tool_use").map((block) =>
    callEvent(textAt(block, "id"), textAt(block, "name"), at(block, "input"))
  );
  return [...textEvents(words.filter((text) => text !== "").join("\n")), ...calls];
}

/** The results of tools in a `user` line; its text blocks are the prompt. */
export function toolResultEvents(line: unknown): readonly AgentEvent[] {
  return listAt(line, "message", "content").filter((block) => textAt(block, "type") === "tool_result").map((block) =>
    resultEvent(textAt(block, "tool_use_id"), at(block, "is_error") !== true, at(block, "content"))
  );
}

/** Anthropic's way of counting: input does not include what came from the cache or went into it. */
export function anthropicUsage(usage: unknown, costUsd: number | null = null): Usage {
  const cached = numberAt(usage, "cache_read_input_tokens");
  return {
    inputTokens: sumOf(numberAt(usage, "input_tokens"), cached, numberAt(usage, "cache_creation_input_tokens")),
    outputTokens: numberAt(usage, "output_tokens"),
    cachedTokens: cached,
    reasoningTokens: numberAt(usage, "output_tokens_details", "thinking_tokens"),
    costUsd,
    estimated: costUsd !== null,
  };
}
