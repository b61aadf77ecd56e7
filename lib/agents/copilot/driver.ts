import { join } from "node:path";
import type { AdapterInvocation, AdapterOptions, Driver } from "../adapter.ts";
import { COPILOT_IGNORED, copilotTranslator, copilotUsage } from "./parse.ts";

/** Where the program writes what it used: its stream does not say. */
const COPILOT_USAGE_FILE = "usage.json";

/** `copilot --output-format json`: the prompt on standard input. */
function copilotArguments({ prompt, model, reasoning, folder }: AdapterOptions): AdapterInvocation {
  return {
    arguments: [
      "--allow-all",
      "--no-ask-user",
      "--no-color",
      "--output-format",
      "json",
      "--usage-output-file",
      join(folder, COPILOT_USAGE_FILE),
      ...choices(model, reasoning),
    ],
    input: prompt,
    environment: { COPILOT_AUTO_UPDATE: "false" },
  };
}

/** `copilot -i` in the terminal, with its own questions. */
function copilotInteractive({ prompt, model, reasoning }: AdapterOptions): AdapterInvocation {
  return { arguments: [...choices(model, reasoning), "-i", prompt], input: null };
}

function choices(model: string | null, reasoning: string | null): readonly string[] {
  return [
    ...(model === null ? [] : ["--model", model]),
    ...(reasoning === null ? [] : ["--reasoning-effort", reasoning]),
  ];
}

/** How `copilot` is called, and how its stream is read. */
export const DRIVER: Driver = {
  arguments: copilotArguments,
  interactive: copilotInteractive,
  translator: copilotTranslator,
  ignored: COPILOT_IGNORED,
  usageFile: { name: COPILOT_USAGE_FILE, read: copilotUsage },
};
