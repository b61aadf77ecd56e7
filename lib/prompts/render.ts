/**
 * Prompts: Markdown files with `{{placeholders}}`, each replaceable by a file of the user's.
 *
 * @module
 */
import { join } from "node:path";
import { nearest, RalphError } from "../errors/ralph_error.ts";
import { listDirectory, readText } from "../host/files.ts";

/** These values fill the placeholders of a prompt, by name. */
export type PromptValues = Readonly<Record<string, string>>;

/** The values of each prompt: every `{{placeholder}}` that a text for it may hold. */
const PROMPT_VALUES = {
  challenge: "item task",
  challenge_check: "",
  challenge_wrong: "earlier",
  exec_plan: "answers commands draft errors existing goal map round",
  exec_prd: "",
  exec_run: "attempt branch checks failure id item nonce notes title",
  exec_understand: "failure item nonce today",
  feature_prd_create: "conversation datetime feature file prdContent",
  feature_prd_finalize: "datetime existing feature file prdContent problems",
  feature_prd_refine: "conversation datetime feature file prdContent",
  feature_run:
    "acceptanceCriteria attempt branch checks doneMarker failure item learnings nonce notes project servers storyDescription storyId storyTitle tags verifyCommands",
  feature_verify: "branch checks failure item learnings nonce project result storySummaries verifyCommands",
  gsd_execute:
    "attempt checks earlier failure id item nonce not_checkable phase plan_path presence summary_path tasks title",
  gsd_summary: "id item nonce phase plan_path summary_path tasks title",
  review: "answer change item",
  spec_build: "attempt checks failure id item log name nonce spec stage toEnd",
  spec_decompose: "attempt checks failure id item log name nonce spec stage toEnd",
  spec_investigate: "attempt checks failure id item log name nonce spec stage toEnd",
  spec_plan: "attempt checks failure item nonce spec toEnd",
  spec_verify: "attempt checks failure id item log name nonce spec stage toEnd",
  sprint_complete: "checks failure file goal id iteration nonce step steps",
  sprint_goal: "checks failure file goal id item iteration nonce rules step steps",
  sprint_phase: "checks failure file goal id item iteration nonce rules step steps",
  sprint_reflection: "checks failure file goal id item iteration nonce rules step steps",
  sprint_rules: "checks ending failure file goal id iteration nonce step steps",
  sprint_step: "checks failure file goal id item iteration nonce rules step steps",
} as const;

/** The name of a prompt. */
export type PromptName = keyof typeof PROMPT_VALUES;

/** The values for the prompt of this name: one for each of its placeholders. */
export type PromptValuesOf<Name extends PromptName> = Readonly<Record<Words<(typeof PROMPT_VALUES)[Name]>, string>>;

type Words<Text extends string> = Text extends `${infer First} ${infer Rest}` ? First | Words<Rest> : Text;

/** The source of a prompt's text: a path relative to the root, or `built-in`. */
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

/** A prompt that has no placeholder of its own gets these below it, heading and value. */
const APPENDED: readonly (readonly [heading: string, value: string])[] = [
  ["Current item", "item"],
  ["What was changed", "change"],
  ["What Ralph checks after your turn", "checks"],
  ["What went wrong last time", "failure"],
  ["How to answer", "answer"],
  ["How to end your turn", "toEnd"],
];

/**
 * The text of a prompt, filled in. The workflow's own file wins, then `.ralph/prompts/NAME.md`, then the built-in one.
 * A file without placeholders gets the current item, its checks and the last failure appended.
 *
 * @param name `exec_run`, `exec_understand`, `exec_plan` …
 * @throws {RalphError} internal when there is no such prompt
 */
export async function renderPrompt<Name extends PromptName>(
  name: Name,
  values: PromptValuesOf<Name>,
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
  const { PROMPTS } = await import("../generated/prompts.ts");
  const text = PROMPTS[name];
  if (text === undefined) {
    throw new RalphError("internal", { details: { problem: `there is no prompt named ${name}` } });
  }
  return { text, from: "built-in" };
}

const PLACEHOLDER_REGEXP = /\{\{\s*(\w+)\s*\}\}/g;

/**
 * Placeholders that nothing fills in the files that replace prompts, and files of `.ralph/prompts` that replace none: one
 * line each, with file and line. Such a text goes to the agent as it is, for it may be meant.
 *
 * @param root absolute path
 */
export async function promptWarnings(root: string): Promise<readonly PromptWarning[]> {
  const entries: readonly string[] = await listDirectory(join(root, PROMPTS_FOLDER)).catch(() => []);
  const files = entries.filter((entry) => entry.endsWith(".md")).map((entry) => entry.slice(0, -".md".length));
  const names = Object.keys(PROMPT_VALUES) as PromptName[];
  const found = await Promise.all(names.map(async (name) => {
    if (!files.includes(name) && !Object.hasOwn(WORKFLOW_FILES, name)) return [];
    const { text, from } = await findPrompt(name, { root });
    return from === "built-in" ? [] : unknownPlaceholders(text, name).map((unknown) => ({ path: from, text: unknown }));
  }));
  const strays = files.filter((name) => !Object.hasOwn(PROMPT_VALUES, name)).map((name) => {
    const near = nearest(name, names);
    return {
      path: `${PROMPTS_FOLDER}/${name}.md`,
      text: `no prompt has this name${near === null ? "; `ralph recipes` lists them" : `; did you mean ${near}.md?`}`,
    };
  });
  return [...strays, ...found.flat()];
}

/** Something in a file of the user's that replaces a prompt. */
export interface PromptWarning {
  /** Relative to the root. */
  readonly path: string;
  /** ``line 3: nothing fills {{itm}}, did you mean {{item}}?`` */
  readonly text: string;
}

/** The placeholders of a text that nothing fills, each with its line and those that there are. Pure. */
export function unknownPlaceholders(text: string, name: PromptName): readonly string[] {
  const known: readonly string[] = PROMPT_VALUES[name].split(" ");
  return text.split("\n").flatMap((line, index) =>
    [...line.matchAll(PLACEHOLDER_REGEXP)].filter(([, word = ""]) => !known.includes(word)).map(
      ([place, word = ""]) => {
        const near = nearest(word, known);
        const meant = near === null ? `known: ${known.join(", ")}` : `did you mean {{${near}}}?`;
        return `line ${index + 1}: nothing fills ${place}, which stays as it is; ${meant}`;
      },
    )
  );
}

/** A section that holds one placeholder and no more. */
const SECTION_REGEXP = /^#+ [^\n]*\n+\{\{\s*(\w+)\s*\}\}\n+(?=#)/gm;

/** Fills a text in one pass; a section whose only value is empty is left out. A value that holds `{{…}}` itself stays as it is, and so does a name that has no value. */
export function fillPrompt(text: string, values: PromptValues): string {
  let filled = 0;
  const said = text.replaceAll(SECTION_REGEXP, (section, name: string) => {
    if (values[name] !== "") return section;
    filled += 1;
    return "";
  });
  const result = said.replaceAll(PLACEHOLDER_REGEXP, (place, name: string) => {
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

/** Bytes that a list takes in a prompt, at most. */
export const LIST_BYTES = 8000;

/** For the lines that say how many entries are left out. */
const MARKER_BYTES = 400;

/** Which part of a list is shown. */
export interface WindowOptions {
  /** The entry that the work is about: as many as fit are shown around it. @default 0 */
  readonly at?: number;
  /** The others are found here: ``ralph step list``, or a file. */
  readonly rest: string;
  /** Between two entries. @default "\n" */
  readonly separator?: string;
}

/** The entries around the one at hand, and how many come before and behind them. Pure. */
export function windowed(entries: readonly string[], { at = 0, rest, separator = "\n" }: WindowOptions): string {
  const center = Math.max(0, Math.min(at, entries.length - 1));
  const own = entries[center];
  if (own === undefined) return "";
  const budget = LIST_BYTES - MARKER_BYTES;
  const size = (index: number): number => Buffer.byteLength(`${entries[index] ?? ""}${separator}`);
  const shown = [cut(own, budget, rest)];
  let [first, last] = [center, center];
  let left = budget - Buffer.byteLength(`${shown[0]}${separator}`);
  for (let grows = true; grows;) {
    grows = false;
    if (last + 1 < entries.length && size(last + 1) <= left) {
      last += 1;
      left -= size(last);
      shown.push(entries[last] ?? "");
      grows = true;
    }
    if (first > 0 && size(first - 1) <= left) {
      first -= 1;
      left -= size(first);
      shown.unshift(entries[first] ?? "");
      grows = true;
    }
  }
  const behind = entries.length - 1 - last;
  return [
    ...(first === 0 ? [] : [`… ${first} before: ${rest}`]),
    ...shown,
    ...(behind === 0 ? [] : [`… ${behind} more: ${rest}`]),
  ].join(separator);
}

/** A text in a code fence that nothing in it can close: no line of it is one of the prompt's own. Pure. */
export function quoted(text: string, language = ""): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text.replace(/\s+$/, "")}\n${fence}`;
}

/** A text behind words of the prompt's own: on the same line where it has only one, else quoted below them. Pure. */
export function afterWords(words: string, text: string): string {
  return text.trim().includes("\n") ? `${words}\n\n${quoted(text.trim())}` : `${words} ${text.trim()}`;
}

/** On one line, for a heading, a list or the subject of a commit. Pure. */
export function onOneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}

function cut(text: string, bytes: number, rest: string): string {
  if (Buffer.byteLength(text) <= bytes) return text;
  const marker = `… (cut; whole: ${rest})`;
  const room = bytes - Buffer.byteLength(marker) - 1;
  return `${Buffer.from(text).subarray(0, room).toString().replace(/\uFFFD+$/, "")}${marker}`;
}
