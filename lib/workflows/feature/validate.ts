import { isPlain } from "../plain.ts";

/**
 * Lists the faults of a feature's PRD; none if it is valid. Keys that are missing and have a default, and keys that are
 * not known, are fine.
 *
 * @example Refuse what is not a PRD
 * ```ts
 * import { validateFeaturePrd } from "ralph/feature";
 *
 * console.log(validateFeaturePrd({ schemaVersion: 1 })[0]); // invalid schemaVersion: expected 2, got 1
 * ```
 */
export function validateFeaturePrd(data: unknown): readonly string[] {
  if (!isPlain(data)) return ["PRD must be a JSON object"];
  const { schemaVersion, userStories, run, description, prdSha256 } = data;
  return [
    ...(schemaVersion === 2 ? [] : [`invalid schemaVersion: expected 2, got ${shown(schemaVersion)}`]),
    ...["project", "branchName"].filter((key) => isBlank(data[key])).map((key) => `missing required field: ${key}`),
    ...["project", "branchName"].filter((key) => !isBlank(data[key]) && typeof data[key] !== "string")
      .map((key) => `${key} must be a string`),
    ...optional(description, "string", "description"),
    ...optional(prdSha256, "string", "prdSha256"),
    ...runErrors(run),
    ...storiesErrors(userStories),
  ];
}

function runErrors(run: unknown): readonly string[] {
  if (run === undefined || run === null) return [];
  if (!isPlain(run)) return ["run must be an object"];
  const { learnings } = run;
  return [
    ...["startedAt", "currentStoryId", "verifiedAt"].flatMap((key) =>
      optional(run[key] ?? undefined, "string", `run.${key}`)
    ),
    ...(learnings === undefined || learnings === null || isTexts(learnings)
      ? []
      : ["run.learnings must be an array of strings"]),
  ];
}

function storiesErrors(stories: unknown): readonly string[] {
  if (stories !== undefined && stories !== null && !Array.isArray(stories)) return ["userStories must be an array"];
  const list = (stories ?? []) as readonly unknown[];
  if (list.length === 0) return ["userStories must have at least one story"];
  const ids = list.map((story) => isPlain(story) ? story["id"] : null);
  const seen = new Set<unknown>();
  const twice = new Set(ids.filter((id) => typeof id === "string" && (seen.has(id) || seen.add(id) === undefined)));
  return [
    ...list.flatMap((story, index) => storyErrors(story, `userStories[${index}]`)),
    ...[...twice].map((id) => `userStories: the id ${String(id)} is used more than once`),
  ];
}

const TYPES = {
  description: "string",
  priority: "number",
  passes: "boolean",
  retries: "number",
  blocked: "boolean",
  notes: "string",
} as const;

function storyErrors(story: unknown, place: string): readonly string[] {
  if (!isPlain(story)) return [`${place}: must be an object`];
  const { id, title, acceptanceCriteria: criteria, tags, lastResult } = story;
  return [
    ...(isBlank(id) ? [`${place}: missing id`] : optional(id, "string", `${place}.id`)),
    ...(isBlank(title) ? [`${place}: missing title`] : optional(title, "string", `${place}.title`)),
    ...criteriaErrors(criteria ?? [], place),
    ...(tags === undefined || tags === null || isTexts(tags) ? [] : [`${place}.tags must be an array of strings`]),
    ...Object.entries(TYPES).flatMap(([key, type]) => optional(story[key], type, `${place}.${key}`)),
    ...(lastResult === undefined || lastResult === null || isPlain(lastResult)
      ? []
      : [`${place}.lastResult must be an object or null`]),
  ];
}

function criteriaErrors(criteria: unknown, place: string): readonly string[] {
  if (Array.isArray(criteria) && criteria.length === 0) return [`${place}: missing acceptanceCriteria`];
  return isTexts(criteria) ? [] : [`${place}.acceptanceCriteria must be an array of strings`];
}

function optional(value: unknown, type: "string" | "number" | "boolean", place: string): readonly string[] {
  return value === undefined || value === null || typeof value === type ? [] : [`${place} must be a ${type}`];
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}

function isBlank(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === "string" && value.trim() === "");
}

function shown(value: unknown): string {
  return value === undefined ? "nothing" : JSON.stringify(value);
}
