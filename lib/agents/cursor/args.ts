import type { AdapterInvocation, AdapterOptions } from "../adapter.ts";

/** `cursor-agent -p --output-format stream-json`: the prompt on standard input. */
export function cursorArguments({ prompt, model }: AdapterOptions): AdapterInvocation {
  return {
    arguments: ["-p", "--output-format", "stream-json", "--force", ...(model === null ? [] : ["--model", model])],
    input: prompt,
  };
}

/** `cursor-agent` in the terminal, with its own questions. */
export function cursorInteractive({ prompt, model }: AdapterOptions): AdapterInvocation {
  return { arguments: [...(model === null ? [] : ["--model", model]), prompt], input: null };
}
