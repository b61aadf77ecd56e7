import { words } from "../../host/data.ts";
import { callsOf, type Driver, type Translator } from "../adapter.ts";
import * as events from "../events.ts";
import { failureKind, retryEvents } from "../failures.ts";
import { at, listAt, numberAt, textAt } from "../json.ts";

/** Reads `codex exec --json`. */
function codexTranslator(): Translator {
  const started = events.readByType({
    command_execution: (item) => [events.callEvent(idOf(item), "shell", textAt(item, "command"))],
    mcp_tool_call(item) {
      const tool = [textAt(item, "server"), textAt(item, "tool")].filter((part) => part !== null).join(".");
      return [events.callEvent(idOf(item), tool || "mcp", at(item, "arguments"))];
    },
    web_search: (item) => [events.callEvent(idOf(item), "web_search", textAt(item, "query"))],
    file_change: (item) => [events.callEvent(idOf(item), "apply_patch", textAt(listAt(item, "changes")[0], "path"))],
  });
  const done = events.readByType({
    agent_message: (item) => [{ type: "agent-text", text: textAt(item, "text") ?? "" }],
    command_execution(item) {
      const ok = isOk(item) && numberAt(item, "exit_code") === 0;
      return [events.resultEvent(idOf(item), ok, at(item, "aggregated_output"))];
    },
    mcp_tool_call: (item) => [events.resultEvent(idOf(item), isOk(item), at(item, "result") ?? at(item, "error"))],
    web_search: (item) => [events.resultEvent(idOf(item), isOk(item), "")],
    file_change(item) {
      const changes = isOk(item) ? listAt(item, "changes").map(events.changeEvent) : [];
      return [events.resultEvent(idOf(item), isOk(item), ""), ...changes];
    },
    error: (item) => [events.errorEvent(textAt(item, "message"), "other")],
  });
  return events.readByType({
    "thread.started": (line) => [events.startEvent(textAt(line, "thread_id"))],
    "item.started": (line) => started.push(at(line, "item")),
    "item.completed": (line) => done.push(at(line, "item")),
    error(line) {
      // `Reconnecting... n/5 (why)` is no end; an error without it comes once more as `turn.failed`.
      const message = textAt(line, "message") ?? "";
      return retryEvents(failureKind(message.replace(/^Reconnecting\.\.\. \S+ \((.*)\)$/, "$1")), message);
    },
    "turn.completed": (
      line,
    ) => [events.usageEvent("total", events.tokensAt(at(line, "usage"), TOKENS)), events.COMPLETED],
    "turn.failed": (line) => events.failedEvents(textAt(line, "error", "message")),
  });
}

function idOf(item: unknown): string | null {
  return textAt(item, "id");
}

function isOk(item: unknown): boolean {
  return textAt(item, "status") !== "failed";
}

const TOKENS = ["input_tokens", "output_tokens", "cached_input_tokens", "reasoning_output_tokens"] as const;

/** `codex exec --json -`. Its own sandbox fails in containers, so it has none. */
export const DRIVER: Driver = {
  ...callsOf({
    first: words(`
      exec --json --dangerously-bypass-approvals-and-sandbox --skip-git-repo-check -c
      check_for_update_on_startup=false
    `),
    last: ["-"],
    model: "-m",
    reasoning: (effort) => ["-c", `model_reasoning_effort=${JSON.stringify(effort)}`],
    terminal: [],
  }),
  translator: codexTranslator,
  ignored: ['{"type":"item.updated"'],
};
