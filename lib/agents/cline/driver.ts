import { join } from "node:path";
import type { AdapterInvocation, AdapterOptions, Driver } from "../adapter.ts";
import { clineTranslator } from "./parse.ts";

/** A longer argument is handed over as a file. */
const LONGEST_ARGUMENT = 30_000;

/**
 * `cline --json`: a short prompt as its argument, a longer one in a file that the argument points to. What stands on
 * standard input it reads from some kinds of pipe only. It approves by itself.
 */
function clineArguments({ prompt, model, reasoning, folder }: AdapterOptions): AdapterInvocation {
  const isShort = Buffer.byteLength(prompt) <= LONGEST_ARGUMENT;
  const file = join(folder, "prompt.md");
  return {
    arguments: [
      "--json",
      ...(model === null ? [] : ["-m", model]),
      ...(reasoning === null ? [] : ["--thinking", reasoning]),
      // One word alone, or one that begins with a dash, it refuses.
      isShort ? `Do what follows.\n\n${prompt}` : `Read the file ${file} and do what it says.`,
    ],
    input: null,
    environment: { CLINE_NO_AUTO_UPDATE: "1" },
    ...(isShort ? {} : { files: { "prompt.md": prompt } }),
  };
}

/** How `cline` is called, and how its stream is read. */
export const DRIVER: Driver = {
  arguments: clineArguments,
  interactive: null,
  translator: clineTranslator,
};
