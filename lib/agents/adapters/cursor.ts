import { type AgentEvent, callsOf, type Driver, type Translator } from "../adapter.ts";
import { assistantEvents, completedEvents, startEvents } from "../claude_shape.ts";
import { callEvent, failedEvents, readByType, resultEvent } from "../events.ts";
import { at, textAt } from "../json.ts";

/** Reads `cursor-agent --output-format stream-json`, as documented. A turn that fails has no `result` line. */
function cursorTranslator(): Translator {
  let answer = ""; // its result holds every message, one after the other
  return readByType({
    system: (line) => startEvents(line),
    assistant(line) {
      const events = assistantEvents(line);
      for (const event of events) if (event.type === "agent-text") answer += event.text;
      return events;
    },
    tool_call: (line) => [toolEvent(line)],
    result(line) {
      const result = textAt(line, "result");
      return at(line, "is_error") === true ? failedEvents(result || null) : completedEvents(result, answer);
    },
  });
}

/** The call is an object with one key that names the tool: `{"shellToolCall": {"args": …, "result": …}}`. */
function toolEvent(line: unknown): AgentEvent {
  const id = textAt(line, "call_id");
  const call = at(line, "tool_call");
  const name = typeof call === "object" && call !== null ? Object.keys(call)[0] ?? "tool" : "tool";
  if (textAt(line, "subtype") === "started") {
    return callEvent(id, name.replace(/ToolCall$/, ""), at(call, name, "args"));
  }
  const result = at(call, name, "result");
  return resultEvent(id, at(result, "error") === undefined, at(result, "success") ?? result);
}

/** How `cursor-agent` is called, and how its stream is read. */
export const DRIVER: Driver = {
  ...callsOf({ first: ["-p", "--output-format", "stream-json", "--force"], model: "--model", terminal: [] }),
  translator: cursorTranslator,
};
