import type { AdapterInvocation, AdapterOptions, Driver } from "../adapter.ts";
import { ampTranslator } from "./parse.ts";

/** `amp -x --stream-json`: the prompt on standard input. What it calls a mode chooses the model. */
function ampArguments({ prompt, model }: AdapterOptions): AdapterInvocation {
  return {
    arguments: ["-x", "--dangerously-allow-all", "--stream-json", ...(model === null ? [] : ["--mode", model])],
    input: prompt,
  };
}

/** How `amp` is called, and how its stream is read. */
export const DRIVER: Driver = {
  arguments: ampArguments,
  interactive: null,
  translator: ampTranslator,
};
