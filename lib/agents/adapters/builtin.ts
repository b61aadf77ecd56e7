import type { AgentEvent, FailureKind, Translator } from "../stream_item.ts";
import type { Usage } from "../../backlog/types.ts";
import type { AdapterInvocation, AdapterOptions, Driver } from "../adapter.ts";
import type { AgentSettings } from "../builtin/agent_process.ts";
import { at, numberAt, textAt } from "../json.ts";

/** Ralph itself, with the model server as one argument; the prompt on standard input. */
function builtinArguments({ prompt, reasoning, endpoint }: AdapterOptions): AdapterInvocation {
  const settings = { endpoint, effort: reasoning } as AgentSettings;
  return {
    arguments: [JSON.stringify(settings)],
    input: prompt,
    environment: { NODE_USE_ENV_PROXY: "1" }, // Bun and Deno use a sandbox's proxy by themselves
  };
}

/** Its lines are events as they are; each is taken apart all the same. */
function builtinTranslator(): Translator {
  return { push: eventsOf, end: () => [] };
}

function eventsOf(line: unknown): readonly AgentEvent[] {
  const type = textAt(line, "type");
  const message = textAt(line, "message");
  switch (type) {
    case "agent-start":
      return [{ type, session: null, model: textAt(line, "model") }];
    case "agent-text":
      return [{ type, text: textAt(line, "text") ?? "" }];
    case "agent-tool-call":
      return [{
        type,
        id: textAt(line, "id"),
        tool: textAt(line, "tool") ?? "tool",
        input: textAt(line, "input") ?? "",
      }];
    case "agent-tool-result":
      return [{ type, id: textAt(line, "id"), ok: at(line, "ok") === true, output: textAt(line, "output") ?? "" }];
    case "agent-usage":
      return [{ type, scope: "step", usage: usageOf(at(line, "usage")) }];
    case "agent-error":
      return [{ type, kind: kindOf(line), fatal: at(line, "fatal") === true, message: message ?? "it gave no reason" }];
    case "agent-rate-limit":
      return [{
        type,
        status: textAt(line, "status") === "rejected" ? "rejected" : "retrying",
        untilMs: null,
        waitMs: numberAt(line, "waitMs"),
        message: message ?? "",
      }];
    case "agent-end": {
      const status = textAt(line, "status");
      return [{ type, status: status === "completed" || status === "cut-off" ? status : "failed", message }];
    }
    default:
      return [];
  }
}

function usageOf(usage: unknown): Usage {
  return {
    inputTokens: numberAt(usage, "inputTokens"),
    outputTokens: numberAt(usage, "outputTokens"),
    cachedTokens: numberAt(usage, "cachedTokens"),
    reasoningTokens: numberAt(usage, "reasoningTokens"),
    costUsd: numberAt(usage, "costUsd"),
    estimated: at(usage, "estimated") === true,
  };
}

function kindOf(line: unknown): FailureKind {
  return (textAt(line, "kind") ?? "other") as FailureKind;
}

/** How Ralph calls itself as an agent, and how its stream is read. */
export const DRIVER: Driver = {
  arguments: builtinArguments,
  interactive: null,
  translator: builtinTranslator,
  ignored: ['{"type":"alive"'],
};
