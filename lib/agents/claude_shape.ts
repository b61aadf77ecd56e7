/**
 * The shape that claude gave its lines and that qwen, amp, cursor and droid borrowed: messages made of blocks.
 *
 * @module
 */
import type { Usage } from "../backlog/types.ts";
import type { AgentEvent } from "./stream_item.ts";
import { at, inputText, listAt, numberAt, outputText, sumOf, textAt } from "./json.ts";

/** The `system` line that begins a session; others are no event. */
export function startEvents(line: unknown, model: string | null = textAt(line, "model")): readonly AgentEvent[] {
  return textAt(line, "subtype") === "init"
    ? [{ type: "agent-start", session: textAt(line, "session_id"), model }]
    : [];
}

/** The end of a turn that is done: its result, where the agent's last text does not end with it already. */
export function completedEvents(result: string | null, answer: string): readonly AgentEvent[] {
  const text = result?.trim() ?? "";
  const isRepeated = text === "" || answer.trim().endsWith(text);
  return [...(isRepeated ? [] : [{ type: "agent-text", text: result! } as const]), {
    type: "agent-end",
    status: "completed",
    message: null,
  }];
}

/** What an `assistant` line says and does. Words of a subagent are not the agent's own. */
export function assistantEvents(line: unknown): readonly AgentEvent[] {
  const own = textAt(line, "parent_tool_use_id") === null;
  const events: AgentEvent[] = [];
  const words: string[] = [];
  for (const block of listAt(line, "message", "content")) {
    switch (textAt(block, "type")) {
      case "text": {
        const text = textAt(block, "text");
        if (own && text !== null && text !== "") words.push(text);
        break;
      }
      case "tool_use":
        events.push({
          type: "agent-tool-call",
          id: textAt(block, "id"),
          tool: textAt(block, "name") ?? "tool",
          input: inputText(at(block, "input")),
        });
        break;
      default:
    }
  }
  return words.length === 0 ? events : [{ type: "agent-text", text: words.join("\n") }, ...events];
}

/** What a `user` line holds of tools' results; its text blocks are the prompt. */
export function toolResultEvents(line: unknown): readonly AgentEvent[] {
  return listAt(line, "message", "content").filter((block) => textAt(block, "type") === "tool_result").map((block) => ({
    type: "agent-tool-result",
    id: textAt(block, "tool_use_id"),
    ok: at(block, "is_error") !== true,
    output: outputText(at(block, "content")),
  }));
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
