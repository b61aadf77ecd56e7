import type { AdapterInvocation, AdapterOptions, Driver } from "../adapter.ts";
import { opencodeTranslator } from "./parse.ts";

/** `opencode run --auto --format json`: the prompt on standard input. The model is `provider/model`. */
function opencodeArguments({ prompt, model, reasoning }: AdapterOptions): AdapterInvocation {
  return {
    arguments: [
      "run",
      "--auto",
      "--format",
      "json",
      ...(model === null ? [] : ["-m", model]),
      ...(reasoning === null ? [] : ["--variant", reasoning]),
    ],
    input: prompt,
    environment: { OPENCODE_DISABLE_AUTOUPDATE: "1" },
  };
}

/** `opencode` in the terminal, with its own questions. */
function opencodeInteractive({ prompt, model }: AdapterOptions): AdapterInvocation {
  return { arguments: [...(model === null ? [] : ["-m", model]), "--prompt", prompt], input: null };
}

/** How `opencode` is called, and how its stream is read. */
export const DRIVER: Driver = {
  arguments: opencodeArguments,
  interactive: opencodeInteractive,
  translator: opencodeTranslator,
};
