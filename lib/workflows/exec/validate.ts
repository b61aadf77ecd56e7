import { faultsOf, isPlain, keyErrors, must, type Rule } from "../plain.ts";

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
  if (!Array.isArray(userStories)) {
    return [...errors, `userStories must be an array (got: ${typeName(userStories)})`];
  }
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
