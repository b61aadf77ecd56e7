import type { AdapterInvocation, AdapterOptions } from "../adapter.ts";

/** Standard input is only ever added to an argument. */
const POINTER = "Do what follows.";

/** `cline --json`: the prompt on standard input, behind a short argument. It approves by itself. */
export function clineArguments({ prompt, model, reasoning }: AdapterOptions): AdapterInvocation {
  return {
    arguments: [
      "--json",
      ...(model === null ? [] : ["-m", model]),
      ...(reasoning === null ? [] : ["--thinking", reasoning]),
      POINTER,
    ],
    input: prompt,
    environment: { CLINE_NO_AUTO_UPDATE: "1" },
  };
}
