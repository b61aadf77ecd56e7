import type { AdapterInvocation, AdapterOptions, Driver } from "../adapter.ts";
import { anthropicUsage, assistantEvents, completedEvents, startEvents, toolResultEvents } from "../claude_shape.ts";
import type { AgentEvent, Translator } from "../stream_item.ts";
import { failureEvents, failureKind } from "../failures.ts";
import { at, textAt } from "../json.ts";

/** `amp -x --stream-json`: the prompt on standard input. What it calls a mode chooses the model. */
function ampArguments({ prompt, model }: AdapterOptions): AdapterInvocation {
  return {
    arguments: ["-x", "--dangerously-allow-all", "--stream-json", ...(model === null ? [] : ["--mode", model])],
    input: prompt,
  };
}

/** Reads `amp --stream-json`: claude's shapes; the prompt comes back as a `user` line, usage is on each message. */
function ampTranslator(): Translator {
  let answer = "";

  return {
    push(line) {
      switch (textAt(line, "type")) {
        case "system":
          return startEvents(line, null);
        case "assistant": {
          const events = assistantEvents(line);
          for (const event of events) if (event.type === "agent-text") answer = event.text;
          const usage = at(line, "message", "usage");
          return usage === undefined || usage === null
            ? events
            : [{ type: "agent-usage", scope: "step", usage: anthropicUsage(usage) }, ...events];
        }
        case "user":
          return toolResultEvents(line).map(withExitCode);
        case "result":
          return endEvents(line, answer);
        default:
          return [];
      }
    },
    end: () => [],
  };
}

/** A shell's result is JSON in a text: `{"output":…,"exitCode":3}`, and no error. */
function withExitCode(event: AgentEvent): AgentEvent {
  if (event.type !== "agent-tool-result") return event;
  const exit = /"exitCode":(-?\d+)\}\s*$/.exec(event.output)?.[1];
  return exit === undefined || exit === "0" ? event : { ...event, ok: false };
}

function endEvents(line: unknown, answer: string): readonly AgentEvent[] {
  if (at(line, "is_error") !== true && (textAt(line, "subtype") ?? "success") === "success") {
    return completedEvents(textAt(line, "result"), answer);
  }
  const message = textAt(line, "error") ?? textAt(line, "result") ?? "it gave no reason";
  return failureEvents(failureKind(message), message);
}

/** How `amp` is called, and how its stream is read. */
export const DRIVER: Driver = {
  arguments: ampArguments,
  interactive: null,
  translator: ampTranslator,
};
