import { callsOf, type Driver, type FailureKind, type Translator } from "../adapter.ts";

import * as events from "../events.ts";
import { at, textAt } from "../json.ts";

/** Reads `gemini -o stream-json`. Its words come in pieces; the prompt comes back as a message of the user. */
function geminiTranslator(): Translator {
  const words = new events.Deltas();
  let problem: string | null = null;
  const lines = events.readByType({
    init: (line) => [events.startEvent(textAt(line, "session_id"), textAt(line, "model"))],
    tool_use: (line) => [events.callEvent(textAt(line, "tool_id"), textAt(line, "tool_name"), at(line, "parameters"))],
    tool_result(line) {
      const output = at(line, "output") ?? textAt(line, "error", "message");
      return [events.resultEvent(textAt(line, "tool_id"), textAt(line, "status") === "success", output)];
    },
    error(line) {
      problem = textAt(line, "message") ?? problem;
      return [events.errorEvent(textAt(line, "message") ?? "")];
    },
    // A broken stream ends with a result that gives no reason: the error before it does.
    result: (line) => [
      events.usageEvent("total", events.tokensAt(at(line, "stats"), ["input_tokens", "output_tokens", "cached"])),
      ...(textAt(line, "status") === "success"
        ? [events.COMPLETED]
        : events.failedEvents(textAt(line, "error", "message") ?? problem)),
    ],
  });

  return {
    push(line) {
      if (textAt(line, "type") !== "message") return [...words.flush(), ...lines.push(line)];
      if (textAt(line, "role") !== "assistant") return words.flush();
      const text = textAt(line, "content");
      return at(line, "delta") === true ? words.add(text) : [...words.flush(), ...words.add(text), ...words.flush()];
    },
    end: () => words.flush(),
  };
}

/** The exit code is one of the program's own, or the HTTP status modulo 256. */
const EXIT_KINDS: ReadonlyMap<number, FailureKind> = new Map<number, FailureKind>([
  [41, "auth"],
  [53, "own-limit"],
  [401 % 256, "auth"],
  [403 % 256, "auth"],
  [429 % 256, "rate-limit"],
  ...[500, 502, 503, 504, 529].map((status): [number, FailureKind] => [status % 256, "server"]),
]);

/** With GOOGLE_GEMINI_BASE_URL it takes no key from the environment alone: a key that is set is no way out. */
const LOGIN =
  'put `{"security": {"auth": {"selectedType": "gemini-api-key"}}}` into ~/.gemini/settings.json, or unset GOOGLE_GEMINI_BASE_URL';

/** How `gemini` is called, and how its stream is read. */
export const DRIVER: Driver = {
  ...callsOf({
    first: ["--yolo", "--skip-trust", "-o", "stream-json"],
    model: "-m",
    environment: { GEMINI_CLI_TRUST_WORKSPACE: "true", GEMINI_CLI_NO_RELAUNCH: "true" },
    terminal: ["-i"],
  }),
  translator: geminiTranslator,
  exitKind: (code) => EXIT_KINDS.get(code) ?? null,
  loginFor: (message) => /invalid auth method/i.test(message) ? LOGIN : null,
};
