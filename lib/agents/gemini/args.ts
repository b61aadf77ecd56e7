import type { AdapterInvocation, AdapterOptions } from "../adapter.ts";

const ENVIRONMENT = { GEMINI_CLI_TRUST_WORKSPACE: "true", GEMINI_CLI_NO_RELAUNCH: "true" };

/** `gemini --yolo -o stream-json`: the prompt on standard input. */
export function geminiArguments({ prompt, model }: AdapterOptions): AdapterInvocation {
  return {
    arguments: ["--yolo", "--skip-trust", "-o", "stream-json", ...(model === null ? [] : ["-m", model])],
    input: prompt,
    environment: ENVIRONMENT,
  };
}

/** `gemini -i` in the terminal, with its own questions. */
export function geminiInteractive({ prompt, model }: AdapterOptions): AdapterInvocation {
  return { arguments: [...(model === null ? [] : ["-m", model]), "-i", prompt], input: null };
}
