import { join } from "node:path";
import type { AdapterInvocation, AdapterOptions } from "../adapter.ts";

/** `droid exec -o stream-json`: the prompt in a file. */
export function droidArguments({ prompt, model, reasoning, folder }: AdapterOptions): AdapterInvocation {
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
