import type { AdapterInvocation, AdapterOptions, Driver } from "../adapter.ts";
import { geminiExitKind, geminiTranslator } from "./parse.ts";

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

/** How `gemini` is called, and how its stream is read. */
export const DRIVER: Driver = {
  arguments: geminiArguments,
  interactive: geminiInteractive,
  translator: geminiTranslator,
  exitKind: geminiExitKind,
};
