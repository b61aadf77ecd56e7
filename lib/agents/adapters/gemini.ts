import type { AdapterInvocation, AdapterOptions, Driver } from "../adapter.ts";
import type { AgentEvent, FailureKind, Translator } from "../stream_item.ts";
import { failureEvents, failureKind } from "../failures.ts";
import { at, inputText, numberAt, outputText, textAt } from "../json.ts";
import { createDeltas } from "../deltas.ts";

const ENVIRONMENT = { GEMINI_CLI_TRUST_WORKSPACE: "true", GEMINI_CLI_NO_RELAUNCH: "true" };

/** `gemini --yolo -o stream-json`: the prompt on standard input. */
function geminiArguments({ prompt, model }: AdapterOptions): AdapterInvocation {
  return {
    arguments: ["--yolo", "--skip-trust", "-o", "stream-json", ...(model === null ? [] : ["-m", model])],
    input: prompt,
    environment: ENVIRONMENT,
  };
}

/** `gemini -i` in the terminal, with its own questions. */
function geminiInteractive({ prompt, model }: AdapterOptions): AdapterInvocation {
  return { arguments: [...(model === null ? [] : ["-m", model]), "-i", prompt], input: null };
}

/** Reads `gemini -o stream-json`. Its words come in pieces; the prompt comes back as a message of the user. */
function geminiTranslator(): Translator {
  const words = createDeltas();
  let problem: string | null = null;

  return {
    push(line) {
      if (textAt(line, "type") === "error") problem = textAt(line, "message") ?? problem;
      if (textAt(line, "type") === "message") {
        if (textAt(line, "role") !== "assistant") return words.flush();
        if (at(line, "delta") !== true) {
          return [...words.flush(), ...words.add(textAt(line, "content")), ...words.flush()];
        }
        return words.add(textAt(line, "content"));
      }
      return [...words.flush(), ...lineEvents(line, problem)];
    },
    end: () => words.flush(),
  };
}

function lineEvents(line: unknown, problem: string | null): readonly AgentEvent[] {
  switch (textAt(line, "type")) {
    case "init":
      return [{ type: "agent-start", session: textAt(line, "session_id"), model: textAt(line, "model") }];
    case "tool_use":
      return [{
        type: "agent-tool-call",
        id: textAt(line, "tool_id"),
        tool: textAt(line, "tool_name") ?? "tool",
        input: inputText(at(line, "parameters")),
      }];
    case "tool_result": {
      const output = outputText(at(line, "output") ?? textAt(line, "error", "message"));
      return [{
        type: "agent-tool-result",
        id: textAt(line, "tool_id"),
        ok: textAt(line, "status") === "success",
        output,
      }];
    }
    case "error": {
      const message = textAt(line, "message") ?? "";
      return [{ type: "agent-error", kind: failureKind(message), fatal: false, message }];
    }
    case "result":
      return [usageEvent(at(line, "stats")), ...endEvents(line, problem)];
    default:
      return [];
  }
}

/** @param problem what an error before it said: a broken stream ends with a result that gives no reason */
function endEvents(line: unknown, problem: string | null): readonly AgentEvent[] {
  if (textAt(line, "status") === "success") return [{ type: "agent-end", status: "completed", message: null }];
  const message = textAt(line, "error", "message") ?? problem ?? "it gave no reason";
  return failureEvents(failureKind(message), message);
}

function usageEvent(stats: unknown): AgentEvent {
  return {
    type: "agent-usage",
    scope: "total",
    usage: {
      inputTokens: numberAt(stats, "input_tokens"),
      outputTokens: numberAt(stats, "output_tokens"),
      cachedTokens: numberAt(stats, "cached"),
      reasoningTokens: null,
      costUsd: null,
      estimated: false,
    },
  };
}

/** The exit code is the HTTP status modulo 256, or one of the program's own. */
function geminiExitKind(exitCode: number): FailureKind | null {
  switch (exitCode) {
    case 41:
    case 401 % 256:
    case 403 % 256:
      return "auth";
    case 429 % 256:
      return "rate-limit";
    case 53:
      return "own-limit";
    case 500 % 256:
    case 502 % 256:
    case 503 % 256:
    case 504 % 256:
    case 529 % 256:
      return "server";
    default:
      return null;
  }
}

/** With GOOGLE_GEMINI_BASE_URL it takes no key from the environment alone: what is set already is no way out. */
function geminiLogin(message: string): string | null {
  return /invalid auth method/i.test(message)
    ? 'put `{"security": {"auth": {"selectedType": "gemini-api-key"}}}` into ~/.gemini/settings.json, or unset GOOGLE_GEMINI_BASE_URL'
    : null;
}

/** How `gemini` is called, and how its stream is read. */
export const DRIVER: Driver = {
  arguments: geminiArguments,
  interactive: geminiInteractive,
  translator: geminiTranslator,
  exitKind: geminiExitKind,
  loginFor: geminiLogin,
};
