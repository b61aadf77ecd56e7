import type { AdapterInvocation, AdapterOptions } from "../adapter.ts";

/** `codex exec --json -`: the prompt on standard input. Its own sandbox fails in containers, so it has none. */
export function codexArguments({ prompt, model, reasoning }: AdapterOptions): AdapterInvocation {
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
export function codexInteractive({ prompt, model, reasoning }: AdapterOptions): AdapterInvocation {
  return { arguments: [...choices(model, reasoning), prompt], input: null };
}

function choices(model: string | null, reasoning: string | null): readonly string[] {
  return [
    ...(model === null ? [] : ["-m", model]),
    ...(reasoning === null ? [] : ["-c", `model_reasoning_effort=${JSON.stringify(reasoning)}`]),
  ];
}
