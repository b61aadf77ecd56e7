/**
 * The events of an agent's stream, from values that may be missing, and streams that are read by the `type` of each line.
 *
 * @module
 */
import type { Usage } from "../backlog/types.ts";
import type { AgentEvent, FailureKind, Translator } from "./adapter.ts";
import { failureEvents, failureKind, type LimitTimes } from "./failures.ts";
import { at, inputText, numberAt, outputText, textAt } from "./json.ts";
import { UNKNOWN_USAGE } from "./turn_end.ts";

/** The agent says that it is done. */
export const COMPLETED: AgentEvent = { type: "agent-end", status: "completed", message: null };

/** The session begins. */
export function startEvent(session: string | null, model: string | null = null): AgentEvent {
  return { type: "agent-start", session, model };
}

/** A message of the agent; an empty one is none. */
export function textEvents(text: string | null): readonly AgentEvent[] {
  return text === null || text === "" ? [] : [{ type: "agent-text", text }];
}

/** A tool is called. */
export function callEvent(id: string | null, tool: string | null, input: unknown): AgentEvent {
  return { type: "agent-tool-call", id, tool: tool ?? "tool", input: inputText(input) };
}

/** A tool gave something. */
export function resultEvent(id: string | null, ok: boolean, output: unknown): AgentEvent {
  return { type: "agent-tool-result", id, ok, output: outputText(output) };
}

/** A file was changed: `add` and `create` make it, `delete` takes it away. */
export function changeEvent(change: unknown): AgentEvent {
  const kind = textAt(change, "kind") ?? "";
  const kinds: Readonly<Record<string, "added" | "deleted">> = { add: "added", create: "added", delete: "deleted" };
  return { type: "agent-file-change", path: textAt(change, "path") ?? "", change: kinds[kind] ?? "changed" };
}

/** Tokens and cost; a cost that an agent reports is its estimate. */
export function usageEvent(scope: "step" | "total", usage: Partial<Usage>): AgentEvent {
  const estimated = (usage.costUsd ?? null) !== null;
  return { type: "agent-usage", scope, usage: { ...UNKNOWN_USAGE, estimated, ...usage } };
}

/** Tokens, by the names of what went in, what came out, what of the first was cached, and what of the second was thought. */
export function tokensAt(
  usage: unknown,
  [input, output, cached, thought]: readonly [input: string, output: string, cached: string, thought?: string],
): Partial<Usage> {
  return {
    inputTokens: numberAt(usage, input),
    outputTokens: numberAt(usage, output),
    cachedTokens: numberAt(usage, cached),
    reasoningTokens: thought === undefined ? null : numberAt(usage, thought),
  };
}

/** The agent continues after an error. */
export function errorEvent(message: string | null, kind?: FailureKind): AgentEvent {
  const known = kind ?? (message === null ? "other" : failureKind(message));
  return { type: "agent-error", kind: known, fatal: false, message: message ?? "" };
}

/** The turn ended too early. */
export function cutOffEvent(message: string): AgentEvent {
  return { type: "agent-end", status: "cut-off", message };
}

/** The agent gave up. @param kind by the message, where it is not known */
export function failedEvents(message: string | null, kind?: FailureKind, times?: LimitTimes): readonly AgentEvent[] {
  const why = message ?? "it gave no reason";
  return failureEvents(kind ?? failureKind(why), why, times);
}

/**
 * Reads each line by its `type`; `answer` is the agent's last text. Other lines are no event.
 *
 * @param part the field of a line that holds all but the type. @default the line itself
 */
export function readByType(
  rows: Readonly<Record<string, (line: unknown, answer: string) => readonly AgentEvent[]>>,
  ...part: readonly string[]
): Translator {
  let answer = "";
  return {
    push(line) {
      const type = textAt(line, "type") ?? "";
      const events = Object.hasOwn(rows, type) ? rows[type]!(at(line, ...part), answer) : [];
      for (const event of events) if (event.type === "agent-text") answer = event.text;
      return events;
    },
  };
}

/** A message longer than this is passed on in parts. */
const LONGEST_WORDS = 1024 * 1024;

/** Words that come in pieces, put together. */
export class Deltas {
  #text = "";

  add(text: string | null): readonly AgentEvent[] {
    this.#text += text ?? "";
    return this.#text.length > LONGEST_WORDS ? this.flush() : [];
  }

  /** The message is over. */
  flush(): readonly AgentEvent[] {
    const events = textEvents(this.#text);
    this.drop();
    return events;
  }

  /** Forgets the pieces: the whole message has come by itself. */
  drop(): readonly [] {
    this.#text = "";
    return [];
  }
}
