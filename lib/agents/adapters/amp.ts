import { type AgentEvent, callsOf, type Driver } from "../adapter.ts";
import * as claude from "../claude_shape.ts";
import { failedEvents, readByType, usageEvent } from "../events.ts";
import { at, textAt } from "../json.ts";

function stepEvents(line: unknown): readonly AgentEvent[] {
  const usage = at(line, "message", "usage") ?? null;
  return [
    ...(usage === null ? [] : [usageEvent("step", claude.anthropicUsage(usage))]),
    ...claude.assistantEvents(line),
  ];
}

/** A shell's result is JSON in a text: `{"output":…,"exitCode":3}`, and no error. */
function withExitCode(event: AgentEvent): AgentEvent {
  if (event.type !== "agent-tool-result") return event;
  const exit = /"exitCode":(-?\d+)\}\s*$/.exec(event.output)?.[1];
  return exit === undefined || exit === "0" ? event : { ...event, ok: false };
}

function endEvents(line: unknown, answer: string): readonly AgentEvent[] {
  return claude.isSuccess(line)
    ? claude.completedEvents(textAt(line, "result"), answer)
    : failedEvents(textAt(line, "error") ?? textAt(line, "result"));
}

/**
 * `amp -x --stream-json`: its modes choose the model. Claude's shapes; the prompt comes back as a `user` line, usage is
 * on each message.
 */
export const DRIVER: Driver = {
  ...callsOf({ first: ["-x", "--dangerously-allow-all", "--stream-json"], model: "--mode" }),
  translator: () =>
    readByType({
      system: (line) => claude.startEvents(line, null),
      assistant: stepEvents,
      user: (line) => claude.toolResultEvents(line).map(withExitCode),
      result: endEvents,
    }),
};
