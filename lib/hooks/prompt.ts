import { join } from "node:path";
import { RalphError, stateInvalid } from "../errors/ralph_error.ts";
import { filledText } from "../host/data.ts";
import { readText } from "../host/files.ts";

const TRANSCRIPT_REGEXP = /\$(?:ITERATION_TRANSCRIPT\b|\{ITERATION_TRANSCRIPT\})/g;
/** A plain name: never a path that leads elsewhere. */
const WORKFLOW_NAME_REGEXP = /^[A-Za-z0-9][\w.-]*$/;

/** True for `plugin:command`, which the agent itself knows. Pure. */
export function isExternalWorkflow(workflow: string): boolean {
  return workflow.includes(":");
}

/** The text of `.claude/workflows/NAME.yaml` with its path relative to the root, or `null` when there is none. */
export async function readWorkflow(
  root: string,
  name: string,
): Promise<{ readonly path: string; readonly text: string } | null> {
  if (!WORKFLOW_NAME_REGEXP.test(name)) return null;
  for (const extension of ["yaml", "yml"]) {
    const path = `.claude/workflows/${name}.${extension}`;
    const text = await readText(join(root, path));
    if (text !== null) return { path, text };
  }
  return null;
}

/**
 * The prompt of a hook that an agent carries out.
 *
 * @throws {RalphError} hook-invalid when its workflow's file is missing or says nothing to do
 */
export async function hookPrompt(
  root: string,
  hook: { readonly id: string } & ({ readonly workflow: string } | { readonly prompt: string }),
  transcript: string,
): Promise<string> {
  if ("prompt" in hook) return withTranscript(hook.prompt, transcript);
  if (isExternalWorkflow(hook.workflow)) return `/${hook.workflow.replace(/^\//, "")} ${transcript}`;
  const text = await workflowPrompt(root, hook.workflow);
  if (text === null) {
    const problem = `there is no .claude/workflows/${hook.workflow}.yaml with a prompt or phases`;
    throw new RalphError("hook-invalid", { details: { hook: hook.id, problem } });
  }
  const filled = withTranscript(text, transcript);
  return filled === text ? `${text.trimEnd()}\n\nTranscript of the iteration: ${transcript}\n` : filled;
}

/** A local workflow's prompt: its `prompt` or `goal-prompt`, else its phases' prompts in order; `null` for none. */
export async function workflowPrompt(root: string, name: string): Promise<string | null> {
  const file = await readWorkflow(root, name);
  if (file === null) return null;
  const { parse } = await import("yaml");
  let workflow: Readonly<Record<string, unknown>>;
  try {
    workflow = Object(parse(file.text)) as Readonly<Record<string, unknown>>;
  } catch (error) {
    const problem = error instanceof Error ? error.message.split("\n")[0] ?? "not YAML" : String(error);
    throw stateInvalid(file.path, problem);
  }
  const own = filledText(workflow["prompt"]) ?? filledText(workflow["goal-prompt"]);
  if (own !== null) return own;
  const phases = Array.isArray(workflow["phases"]) ? workflow["phases"] as readonly unknown[] : [];
  const prompts = phases.map((phase) => filledText(phase) ?? filledText(Object(phase)["prompt"])).filter((text) =>
    text !== null
  );
  return prompts.length === 0 ? null : prompts.map((text) => text.trimEnd()).join("\n\n");
}

function withTranscript(text: string, transcript: string): string {
  return text.replaceAll(TRANSCRIPT_REGEXP, () => transcript);
}
