/**
 * The strict PRD of the exec workflow, as it is in `scripts/ralph/prd.json`.
 *
 * @module
 */
import { faultsOf, isPlain, keyErrors, must, type Rule } from "../plain.ts";
import type { PrdStory } from "../stories.ts";

/** One user story: what one iteration works on. */
export type Story = PrdStory;

/** The whole document: these two keys and no others. */
export interface Prd {
  /** The branch that `ralph run` works on. */
  readonly branchName: string;
  readonly userStories: readonly Story[];
}

/**
 * The exec workflow keeps its files here. All paths are relative to the root.
 *
 * @module
 */

/** The workflow's folder. Until a PRD is approved nothing outside it may change. */
export const EXEC_FOLDER = "scripts/ralph";
export const PRD_FILE = "scripts/ralph/prd.json";
export const PLAN_STATE_FILE = "scripts/ralph/plan_state.json";
export const PLAN_TRANSCRIPT_FILE = "scripts/ralph/plan_transcript.md";
export const CODEBASE_MAP_FILE = "scripts/ralph/codebase_map.md";
export const PROGRESS_FILE = "scripts/ralph/progress.txt";
export const UNDERSTAND_PROMPT_FILE = "scripts/ralph/understand_prompt.md";
/** Transcripts, events and files moved aside, one folder a run. */
export const EXEC_RUNS = "scripts/ralph/runs";

/** `ralph exec` hands this to its recipe. Everything but the goal has a flag of its own and may be left out. */
export interface ExecArgs {
  /** The goal as the person typed it; "" with `--resume`. */
  readonly goal: string;
  readonly resume?: boolean;
  /** The branch that a new goal starts from. @default the one that is checked out */
  readonly base?: string;
  /** @default "auto" */
  readonly understand?: "auto" | "always" | "never";
  /** @default "auto" */
  readonly maxUnderstandIterations?: "auto" | number;
  /** @default "auto" */
  readonly maxRunIterations?: "auto" | number;
}

const TEXT = must("a string", (value) => typeof value === "string");
const STORY: Readonly<Record<string, Rule>> = {
  id: TEXT,
  title: TEXT,
  acceptanceCriteria(value) {
    if (!Array.isArray(value)) return "must be an array";
    return value.every((criterion) => typeof criterion === "string") ? null : "all items must be strings";
  },
  priority: must("an integer", Number.isInteger),
  passes: must("a boolean", (value) => typeof value === "boolean"),
  notes: TEXT,
};

/**
 * The problems of a PRD, in a fixed order and wording; none if it is valid.
 *
 * @example Refuse what is not a PRD
 * ```ts
 * import { validatePrd } from "ralph/exec";
 *
 * console.log(validatePrd([])); // [ "PRD must be a JSON object" ]
 * ```
 */
export function validatePrd(data: unknown): readonly string[] {
  if (!isPlain(data)) return ["PRD must be a JSON object"];
  const errors = [...keyErrors(data, ["branchName", "userStories"], ["Missing required keys", "Unexpected keys"])];
  const { branchName = "-", userStories = [] } = data;
  if (typeof branchName !== "string") errors.push(`branchName must be a string (got: ${typeName(branchName)})`);
  else if (branchName === "") errors.push("branchName must be non-empty");
  if (!Array.isArray(userStories)) return [...errors, `userStories must be an array (got: ${typeName(userStories)})`];
  return [...errors, ...userStories.flatMap((story, index) => storyErrors(story, `userStories[${index}]`))];
}

function storyErrors(story: unknown, place: string): readonly string[] {
  if (!isPlain(story)) return [`${place}: must be an object`];
  return [
    ...keyErrors(story, Object.keys(STORY), [`${place}: missing keys`, `${place}: unexpected keys`]),
    ...faultsOf(story, STORY, (key, fault) => `${place}.${key}: ${fault}`),
  ];
}

/** The messages are older than this program: they name types as Python does. */
function typeName(value: unknown): string {
  if (value === null) return "NoneType";
  if (Array.isArray(value)) return "list";
  if (typeof value === "number") return Number.isInteger(value) ? "int" : "float";
  return new Map<string, string>([["boolean", "bool"], ["string", "str"]]).get(typeof value) ?? "dict";
}
