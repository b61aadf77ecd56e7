import type { AdapterInvocation, AdapterOptions, Driver } from "../adapter.ts";
import type { Usage } from "../../backlog/types.ts";
import type { AgentSettings } from "../builtin/agent_process.ts";
import { readByType } from "../events.ts";
import { at, numberAt, textAt } from "../json.ts";
import type { FailureKind, Translator } from "../stream_item.ts";

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
  return readByType({
    "agent-start": (line) => [{ type: "agent-start", session: null, model: textAt(line, "model") }],
    "agent-text": (line) => [{ type: "agent-text", text: textAt(line, "text") ?? "" }],
    "agent-tool-call": (line) => [{
      type: "agent-tool-call",
      id: textAt(line, "id"),
      tool: textAt(line, "tool") ?? "tool",
      input: textAt(line, "input") ?? "",
    }],
    "agent-tool-result": (line) => [{
      type: "agent-tool-result",
      id: textAt(line, "id"),
      ok: at(line, "ok") === true,
      output: textAt(line, "output") ?? "",
    }],
    "agent-usage": (line) => [{ type: "agent-usage", scope: "step", usage: usageOf(at(line, "usage")) }],
    "agent-error": (line) => [{
      type: "agent-error",
      kind: (textAt(line, "kind") ?? "other") as FailureKind,
      fatal: at(line, "fatal") === true,
      message: textAt(line, "message") ?? "it gave no reason",
    }],
    "agent-rate-limit": (line) => [{
      type: "agent-rate-limit",
      status: textAt(line, "status") === "rejected" ? "rejected" : "retrying",
      untilMs: null,
      waitMs: numberAt(line, "waitMs"),
      message: textAt(line, "message") ?? "",
    }],
    "agent-end"(line) {
      const status = textAt(line, "status");
      const isKnown = status === "completed" || status === "cut-off";
      return [{ type: "agent-end", status: isKnown ? status : "failed", message: textAt(line, "message") }];
    },
  });
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

/** How Ralph calls itself as an agent, and how its stream is read. */
export const DRIVER: Driver = {
  arguments: builtinArguments,
  interactive: null,
  translator: builtinTranslator,
  ignored: ['{"type":"alive"'],
};
