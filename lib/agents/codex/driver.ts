import type { AdapterInvocation, AdapterOptions, Driver } from "../adapter.ts";
import { codexTranslator } from "./parse.ts";

/** `codex exec --json -`: the prompt on standard input. Its own sandbox fails in containers, so it has none. */
function codexArguments({ prompt, model, reasoning }: AdapterOptions): AdapterInvocation {
  return {
    arguments: [
      "exec",
      "--json",
      "--dangerously-bypass-approvals-and-sandbox",
      "--skip-git-repo-check",
      "-c",
      "check_for_update_on_startup=false",
      ...choices(model, reasoning),
      "-",
    ],
    input: prompt,
  };
}

/** `codex` in the terminal, with its own questions. */
function codexInteractive({ prompt, model, reasoning }: AdapterOptions): AdapterInvocation {
  return { arguments: [...choices(model, reasoning), prompt], input: null };
}

function choices(model: string | null, reasoning: string | null): readonly string[] {
  return [
    ...(model === null ? [] : ["-m", model]),
    ...(reasoning === null ? [] : ["-c", `model_reasoning_effort=${JSON.stringify(reasoning)}`]),
  ];
}

/** How `codex` is called, and how its stream is read. */
export const DRIVER: Driver = {
  arguments: codexArguments,
  interactive: codexInteractive,
  translator: codexTranslator,
  ignored: ['{"type":"item.updated"'],
};
