import type { AdapterInvocation, AdapterOptions, Driver } from "../adapter.ts";
import { assistantEvents, completedEvents, startEvents } from "../claude_shape.ts";
import type { AgentEvent, Translator } from "../stream_item.ts";
import { failureEvents, failureKind } from "../failures.ts";
import { at, inputText, outputText, textAt } from "../json.ts";

/** `cursor-agent -p --output-format stream-json`: the prompt on standard input. */
function cursorArguments({ prompt, model }: AdapterOptions): AdapterInvocation {
  return {
    arguments: ["-p", "--output-format", "stream-json", "--force", ...(model === null ? [] : ["--model", model])],
    input: prompt,
  };
}

/** `cursor-agent` in the terminal, with its own questions. */
function cursorInteractive({ prompt, model }: AdapterOptions): AdapterInvocation {
  return { arguments: [...(model === null ? [] : ["--model", model]), prompt], input: null };
}

/** Reads `cursor-agent --output-format stream-json`, as documented. Where it fails there is no `result` line. */
function cursorTranslator(): Translator {
  let answer = "";

  return {
    push(line) {
      switch (textAt(line, "type")) {
        case "system":
          return startEvents(line);
        case "assistant": {
          const events = assistantEvents(line);
          for (const event of events) if (event.type === "agent-text") answer += event.text;
          return events;
        }
        case "tool_call":
          return [toolEvent(line)];
        case "result":
          return endEvents(line, answer);
        default:
          return [];
      }
    },
    end: () => [],
  };
}

/** The call is an object with one key that names the tool: `{"shellToolCall": {"args": …, "result": …}}`. */
function toolEvent(line: unknown): AgentEvent {
  const id = textAt(line, "call_id");
  const call = at(line, "tool_call");
  const name = typeof call === "object" && call !== null ? Object.keys(call)[0] ?? "tool" : "tool";
  if (textAt(line, "subtype") === "started") {
    return {
      type: "agent-tool-call",
      id,
      tool: name.replace(/ToolCall$/, ""),
      input: inputText(at(call, name, "args")),
    };
  }
  const result = at(call, name, "result");
  return {
    type: "agent-tool-result",
    id,
    ok: at(result, "error") === undefined,
    output: outputText(at(result, "success") ?? result),
  };
}

/** Its result holds every message, one after the other. */
function endEvents(line: unknown, answer: string): readonly AgentEvent[] {
  const result = textAt(line, "result");
  if (at(line, "is_error") !== true) return completedEvents(result, answer);
  const message = result || "it gave no reason";
  return failureEvents(failureKind(message), message);
}

/** How `cursor` is called, and how its stream is read. */
export const DRIVER: Driver = {
  arguments: cursorArguments,
  interactive: cursorInteractive,
  translator: cursorTranslator,
};
