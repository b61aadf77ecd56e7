import { join } from "node:path";
import type { AdapterInvocation, AdapterOptions, Driver } from "../adapter.ts";
import { anthropicUsage, completedEvents, startEvents } from "../claude_shape.ts";
import type { AgentEvent, Translator } from "../stream_item.ts";
import { failureEvents, failureKind } from "../failures.ts";
import { at, inputText, outputText, textAt } from "../json.ts";

/** `droid exec -o stream-json`: the prompt in a file. */
function droidArguments({ prompt, model, reasoning, folder }: AdapterOptions): AdapterInvocation {
  return {
    arguments: [
      "exec",
      "-o",
      "stream-json",
      "--skip-permissions-unsafe",
      ...(model === null ? [] : ["-m", model]),
      ...(reasoning === null ? [] : ["-r", reasoning]),
      "-f",
      join(folder, "prompt.md"),
    ],
    input: null,
    files: { "prompt.md": prompt },
  };
}

/** Reads `droid exec -o stream-json`, as documented: flat lines, and one that ends the turn. */
function droidTranslator(): Translator {
  let answer = "";

  return {
    push(line) {
      switch (textAt(line, "type")) {
        case "system":
          return startEvents(line);
        case "message": {
          const text = textAt(line, "text") ?? "";
          if (textAt(line, "role") !== "assistant" || text === "") return [];
          answer = text;
          return [{ type: "agent-text", text }];
        }
        case "tool_call":
          return [{
            type: "agent-tool-call",
            id: textAt(line, "id") ?? textAt(line, "toolCallId"),
            tool: textAt(line, "toolName") ?? textAt(line, "toolId") ?? "tool",
            input: inputText(at(line, "parameters")),
          }];
        case "tool_result":
          return [{
            type: "agent-tool-result",
            id: textAt(line, "id") ?? textAt(line, "toolCallId"),
            ok: at(line, "isError") !== true,
            output: outputText(at(line, "value") ?? at(line, "error")),
          }];
        case "completion":
          return [...usageEvents(line), ...completedEvents(textAt(line, "finalText"), answer)];
        case "result":
          return resultEvents(line, answer);
        case "error": {
          const message = textAt(line, "message") ?? "it gave no reason";
          return failureEvents(failureKind(message), message);
        }
        default:
          return [];
      }
    },
    end: () => [],
  };
}

function resultEvents(line: unknown, answer: string): readonly AgentEvent[] {
  const result = textAt(line, "result");
  if (at(line, "is_error") === true) {
    const message = result ?? "it gave no reason";
    return [...usageEvents(line), ...failureEvents(failureKind(message), message)];
  }
  return [...usageEvents(line), ...completedEvents(result, answer)];
}

function usageEvents(line: unknown): readonly AgentEvent[] {
  const usage = at(line, "usage");
  return usage === undefined ? [] : [{ type: "agent-usage", scope: "total", usage: anthropicUsage(usage) }];
}

/** How `droid` is called, and how its stream is read. */
export const DRIVER: Driver = {
  arguments: droidArguments,
  interactive: null,
  translator: droidTranslator,
};
