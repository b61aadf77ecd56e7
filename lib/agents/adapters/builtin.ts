import type { AgentEvent, Driver } from "../adapter.ts";
import type { AgentSettings } from "../builtin/agent_process.ts";
import { EVENT_SCHEMAS } from "../../events/schema.ts";
import { textAt } from "../json.ts";

function isEvent(line: unknown): line is AgentEvent {
  const type = textAt(line, "type") ?? "";
  return type.startsWith("agent-") && Object.hasOwn(EVENT_SCHEMAS, type) &&
    EVENT_SCHEMAS[type as AgentEvent["type"]].safeParse(line).success;
}

/** How Ralph calls itself as an agent, and how its stream is read. */
export const DRIVER: Driver = {
  // Ralph itself, with the model server as one argument
  arguments: ({ prompt, reasoning, endpoint }) => ({
    arguments: [JSON.stringify({ endpoint, effort: reasoning } as AgentSettings)],
    input: prompt,
    environment: { NODE_USE_ENV_PROXY: "1" }, // Bun and Deno use a sandbox's proxy by themselves
  }),
  interactive: null,
  translator: () => ({ push: (line) => isEvent(line) ? [line] : [] }),
  ignored: ['{"type":"alive"'],
};
