import { isPlain, type Plain } from "../plain.ts";

const TOP_KEYS = ["branchName", "userStories"] as const;
const STORY_KEYS = ["acceptanceCriteria", "id", "notes", "passes", "priority", "title"] as const;

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
  const missing = TOP_KEYS.filter((key) => !Object.hasOwn(data, key));
  const unexpected = unexpectedKeys(data, TOP_KEYS);
  const errors = [
    ...(missing.length > 0 ? [`Missing required keys: ${missing.join(", ")}`] : []),
    ...(unexpected.length > 0 ? [`Unexpected keys: ${unexpected.join(", ")}`] : []),
  ];
  const { branchName = "-", userStories = [] } = data;
  if (typeof branchName !== "string") errors.push(`branchName must be a string (got: ${typeName(branchName)})`);
  else if (branchName === "") errors.push("branchName must be non-empty");
  if (!Array.isArray(userStories)) {
    return [...errors, `userStories must be an array (got: ${typeName(userStories)})`];
  }
  return [...errors, ...userStories.flatMap((story, index) => storyErrors(story, `userStories[${index}]`))];
}

function storyErrors(story: unknown, place: string): readonly string[] {
  if (!isPlain(story)) return [`${place}: must be an object`];
  const missing = STORY_KEYS.filter((key) => !Object.hasOwn(story, key));
  const unexpected = unexpectedKeys(story, STORY_KEYS);
  const errors = [
    ...(missing.length > 0 ? [`${place}: missing keys: ${missing.join(", ")}`] : []),
    ...(unexpected.length > 0 ? [`${place}: unexpected keys: ${unexpected.join(", ")}`] : []),
  ];
  const { id = "", title = "", acceptanceCriteria = [], priority = 1, passes = false, notes = "" } = story;
  if (typeof id !== "string") errors.push(`${place}.id: must be a string`);
  if (typeof title !== "string") errors.push(`${place}.title: must be a string`);
  if (!Array.isArray(acceptanceCriteria)) errors.push(`${place}.acceptanceCriteria: must be an array`);
  else if (!acceptanceCriteria.every((criterion) => typeof criterion === "string")) {
    errors.push(`${place}.acceptanceCriteria: all items must be strings`);
  }
  if (!Number.isInteger(priority)) errors.push(`${place}.priority: must be an integer`);
  if (typeof passes !== "boolean") errors.push(`${place}.passes: must be a boolean`);
  if (typeof notes !== "string") errors.push(`${place}.notes: must be a string`);
  return errors;
}

function unexpectedKeys(data: Plain, expected: readonly string[]): readonly string[] {
  return Object.keys(data).filter((key) => !expected.includes(key)).toSorted();
}

/** The messages are older than this program: they name types as Python does. */
function typeName(value: unknown): string {
  if (value === null) return "NoneType";
  if (Array.isArray(value)) return "list";
  switch (typeof value) {
    case "boolean":
      return "bool";
    case "number":
      return Number.isInteger(value) ? "int" : "float";
    case "string":
      return "str";
    default:
      return "dict";
  }
}
