import type { AdapterInvocation, AdapterOptions, Driver } from "../adapter.ts";
import { PI_IGNORED, piTranslator } from "./parse.ts";

/** `pi -p --mode json`: the prompt on standard input. The model is `provider/model`; it asks for no approval. */
function piArguments({ prompt, model, reasoning }: AdapterOptions): AdapterInvocation {
  return { arguments: ["-p", "--mode", "json", ...choices(model, reasoning)], input: prompt };
}

/** `pi` in the terminal. */
function piInteractive({ prompt, model, reasoning }: AdapterOptions): AdapterInvocation {
  return { arguments: [...choices(model, reasoning), prompt], input: null };
}

function choices(model: string | null, reasoning: string | null): readonly string[] {
  return [...(model === null ? [] : ["--model", model]), ...(reasoning === null ? [] : ["--thinking", reasoning])];
}

/** How `pi` is called, and how its stream is read. */
export const DRIVER: Driver = {
  arguments: piArguments,
  interactive: piInteractive,
  translator: piTranslator,
  ignored: PI_IGNORED,
};
