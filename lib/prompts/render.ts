/**
 * Prompts: Markdown files with `{{placeholders}}`, each replaceable by a file of the user's.
 *
 * @module
 */
import { join } from "node:path";
import { RalphError } from "../errors/ralph_error.ts";
import { readText } from "../host/files.ts";
import { PROMPTS } from "../generated/prompts.ts";

/** What fills the placeholders of a prompt, by name. */
export type PromptValues = Readonly<Record<string, string>>;

/** Where a prompt's text came from: a path relative to the root, or `built-in`. */
export interface PromptSource {
  readonly text: string;
  readonly from: string;
}

/** The files that the exec workflow itself names for its prompts; they come before `.ralph/prompts`. */
const WORKFLOW_FILES: Readonly<Record<string, string>> = {
  exec_run: "scripts/ralph/prompt.md",
  exec_understand: "scripts/ralph/understand_prompt.md",
  spec_plan: "ralph/PROMPT_plan.md",
  spec_build: "ralph/PROMPT_build.md",
  spec_verify: "ralph/PROMPT_verify.md",
  spec_investigate: "ralph/PROMPT_investigate.md",
  spec_decompose: "ralph/PROMPT_decompose.md",
};

/** The folder for files that replace prompts, relative to the root. */
export const PROMPTS_FOLDER = ".ralph/prompts";

/** The files of single workflows that replace a prompt where they exist, relative to the root. */
export const PROMPT_FILES: readonly string[] = Object.values(WORKFLOW_FILES);

/** What is put below a prompt that has no placeholder of its own, heading and value. */
const APPENDED: readonly (readonly [heading: string, value: string])[] = [
  ["Current item", "item"],
  ["What was changed", "change"],
  ["What Ralph checks after your turn", "checks"],
  ["What went wrong last time", "failure"],
  ["How to answer", "answer"],
];

/**
 * The text of a prompt, filled in. The workflow's own file wins, then `.ralph/prompts/NAME.md`, then the built-in one.
 * A file without placeholders gets the current item, its checks and the last failure appended.
 *
 * @param name `exec_run`, `exec_understand`, `exec_plan` …
 * @throws {RalphError} internal when there is no such prompt
 */
export async function renderPrompt(
  name: string,
  values: PromptValues,
  options: { readonly root: string },
): Promise<string> {
  const { text } = await findPrompt(name, options);
  return fillPrompt(text, values);
}

/** Finds a prompt's text without filling it in. @throws {RalphError} internal when there is no such prompt */
export async function findPrompt(name: string, { root }: { readonly root: string }): Promise<PromptSource> {
  const own = WORKFLOW_FILES[name];
  for (const from of [...(own === undefined ? [] : [own]), `${PROMPTS_FOLDER}/${name}.md`]) {
    const text = await readText(join(root, from));
    if (text !== null && text.trim() !== "") return { text, from };
  }
  const text = PROMPTS[name];
  if (text === undefined) {
    throw new RalphError("internal", { details: { problem: `there is no prompt named ${name}` } });
  }
  return { text, from: "built-in" };
}

/** Fills a text in one pass: a value that holds `{{…}}` itself stays as it is, and so does a name that has no value. */
export function fillPrompt(text: string, values: PromptValues): string {
  let filled = 0;
  const result = text.replaceAll(/\{\{\s*(\w+)\s*\}\}/g, (place, name: string) => {
    if (!Object.hasOwn(values, name)) return place;
    filled += 1;
    return values[name] ?? "";
  });
  return filled > 0 ? result : [result.trimEnd(), ...appendix(values)].join("\n\n") + "\n";
}

function appendix(values: PromptValues): readonly string[] {
  const appended = APPENDED.filter(([, name]) => Object.hasOwn(values, name));
  // A prompt without the usual names (the planner's) gets all that there is.
  const sections = appended.length > 0 ? appended : Object.keys(values).map((name) => [name, name] as const);
  return sections.map(([heading, name]) => `## ${heading}\n\n${values[name] ?? ""}`);
}
