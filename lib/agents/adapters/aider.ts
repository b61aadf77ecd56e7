import { join } from "node:path";
import type { AdapterInvocation, AdapterOptions, Driver } from "../adapter.ts";

/** `aider --message-file`: the prompt in a file, plain text back. Ralph commits, so aider does not. */
export function aiderArguments({ prompt, model, reasoning, folder }: AdapterOptions): AdapterInvocation {
  return {
    arguments: [
      "--message-file",
      join(folder, "prompt.md"),
      "--yes-always",
      "--no-stream",
      "--no-pretty",
      "--no-check-update",
      "--no-auto-commits",
      ...(model === null ? [] : ["--model", model]),
      ...(reasoning === null ? [] : ["--reasoning-effort", reasoning]),
    ],
    input: null,
    files: { "prompt.md": prompt },
  };
}

/** How `aider` is called, and how its stream is read. */
export const DRIVER: Driver = {
  arguments: aiderArguments,
  interactive: null,
  translator: null,
};
