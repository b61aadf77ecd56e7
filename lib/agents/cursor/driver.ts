import type { AdapterInvocation, AdapterOptions, Driver } from "../adapter.ts";
import { cursorTranslator } from "./parse.ts";

/** `cursor-agent -p --output-format stream-json`: the prompt on standard input. */
function cursorArguments({ prompt, model }: AdapterOptions): AdapterInvocation {
  return {
    arguments: ["-p", "--output-format", "stream-json", "--force", ...(model === null ? [] : ["--model", model])],
    input: prompt,
  };
}

/** `cursor-agent` in the terminal, with its own questions. */
function cursorInteractive({ prompt, model }: AdapterOptions): AdapterInvocation {
  return { arguments: [...(model === null ? [] : ["--model", model]), prompt], input: null };
}

/** How `cursor` is called, and how its stream is read. */
export const DRIVER: Driver = {
  arguments: cursorArguments,
  interactive: cursorInteractive,
  translator: cursorTranslator,
};
