import { type AgentEvent, callsOf, type Driver, PROMPT_FILE, type Translator } from "../adapter.ts";
import { anthropicUsage, completedEvents, startEvents } from "../claude_shape.ts";
import { callEvent, failedEvents, readByType, resultEvent, textEvents, usageEvent } from "../events.ts";
import { at, textAt } from "../json.ts";

/** Reads `droid exec -o stream-json`, as documented: flat lines, and one that ends the turn. */
function droidTranslator(): Translator {
  return readByType({
    system: (line) => startEvents(line),
    message: (line) => textAt(line, "role") === "assistant" ? textEvents(textAt(line, "text")) : [],
    tool_call: (
      line,
    ) => [callEvent(idOf(line), textAt(line, "toolName") ?? textAt(line, "toolId"), at(line, "parameters"))],
    tool_result: (
      line,
    ) => [resultEvent(idOf(line), at(line, "isError") !== true, at(line, "value") ?? at(line, "error"))],
    completion: (line, answer) => [...usageEvents(line), ...completedEvents(textAt(line, "finalText"), answer)],
    result(line, answer) {
      const result = textAt(line, "result");
      const end = at(line, "is_error") === true ? failedEvents(result) : completedEvents(result, answer);
      return [...usageEvents(line), ...end];
    },
    error: (line) => failedEvents(textAt(line, "message")),
  });
}

function idOf(line: unknown): string | null {
  return textAt(line, "id") ?? textAt(line, "toolCallId");
}

function usageEvents(line: unknown): readonly AgentEvent[] {
  const usage = at(line, "usage");
  return usage === undefined ? [] : [usageEvent("total", anthropicUsage(usage))];
}

/** How `droid` is called, and how its stream is read. */
export const DRIVER: Driver = {
  ...callsOf({
    first: ["exec", "-o", "stream-json", "--skip-permissions-unsafe"],
    last: ["-f", PROMPT_FILE],
    model: "-m",
    reasoning: "-r",
  }),
  translator: droidTranslator,
};
