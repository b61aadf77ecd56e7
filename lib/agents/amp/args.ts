import type { AdapterInvocation, AdapterOptions } from "../adapter.ts";

/** `amp -x --stream-json`: the prompt on standard input. What it calls a mode chooses the model. */
export function ampArguments({ prompt, model }: AdapterOptions): AdapterInvocation {
  return {
    arguments: ["-x", "--dangerously-allow-all", "--stream-json", ...(model === null ? [] : ["--mode", model])],
    input: prompt,
  };
}
