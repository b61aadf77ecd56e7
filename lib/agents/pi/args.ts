import type { AdapterInvocation, AdapterOptions } from "../adapter.ts";

/** `pi -p --mode json`: the prompt on standard input. The model is `provider/model`; it asks for no approval. */
export function piArguments({ prompt, model, reasoning }: AdapterOptions): AdapterInvocation {
  return { arguments: ["-p", "--mode", "json", ...choices(model, reasoning)], input: prompt };
}

/** `pi` in the terminal. */
export function piInteractive({ prompt, model, reasoning }: AdapterOptions): AdapterInvocation {
  return { arguments: [...choices(model, reasoning), prompt], input: null };
}

function choices(model: string | null, reasoning: string | null): readonly string[] {
  return [...(model === null ? [] : ["--model", model]), ...(reasoning === null ? [] : ["--thinking", reasoning])];
}
