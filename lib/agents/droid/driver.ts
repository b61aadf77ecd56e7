import { join } from "node:path";
import type { AdapterInvocation, AdapterOptions, Driver } from "../adapter.ts";
import { droidTranslator } from "./parse.ts";

/** `droid exec -o stream-json`: the prompt in a file. */
function droidArguments({ prompt, model, reasoning, folder }: AdapterOptions): AdapterInvocation {
  return {
    arguments: [
      "exec",
      "-o",
      "stream-json",
      "--skip-permissions-unsafe",
      ...(model === null ? [] : ["-m", model]),
      ...(reasoning === null ? [] : ["-r", reasoning]),
      "-f",
      join(folder, "prompt.md"),
    ],
    input: null,
    files: { "prompt.md": prompt },
  };
}

/** How `droid` is called, and how its stream is read. */
export const DRIVER: Driver = {
  arguments: droidArguments,
  interactive: null,
  translator: droidTranslator,
};
