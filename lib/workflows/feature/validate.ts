import { faultsOf, isPlain, must, type Rule } from "../plain.ts";

type Rules = Readonly<Record<string, Rule>>;

const TEXT = typed("string");
const TEXTS = must(
  "an array of strings",
  (value) => value === null || (Array.isArray(value) && value.every((one) => typeof one === "string")),
);
const OBJECT = (value: unknown): boolean => value === null || isPlain(value);
const TOP: Rules = {
  project: TEXT,
  branchName: TEXT,
  description: TEXT,
  prdSha256: TEXT,
  run: must("an object", OBJECT),
};
const RUN: Rules = { startedAt: TEXT, currentStoryId: TEXT, verifiedAt: TEXT, learnings: TEXTS };
const STORY: Rules = {
  id: TEXT,
  title: TEXT,
  acceptanceCriteria: TEXTS,
  tags: TEXTS,
  description: TEXT,
  priority: typed("number"),
  passes: typed("boolean"),
  retries: typed("number"),
  blocked: typed("boolean"),
  notes: TEXT,
  lastResult: must("an object or null", OBJECT),
};

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
  const { schemaVersion, userStories, run } = data;
  return [
    ...(schemaVersion === 2
      ? []
      : [`invalid schemaVersion: expected 2, got ${JSON.stringify(schemaVersion) ?? "nothing"}`]),
    ...["project", "branchName"].filter((key) => isBlank(data[key])).map((key) => `missing required field: ${key}`),
    ...faultsOf(data, TOP, (key, fault) => `${key} ${fault}`),
    ...(isPlain(run) ? faultsOf(run, RUN, (key, fault) => `run.${key} ${fault}`) : []),
    ...storiesErrors(userStories),
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

function storyErrors(story: unknown, place: string): readonly string[] {
  if (!isPlain(story)) return [`${place}: must be an object`];
  const criteria = story["acceptanceCriteria"] ?? [];
  return [
    ...["id", "title"].filter((key) => isBlank(story[key])).map((key) => `${place}: missing ${key}`),
    ...(Array.isArray(criteria) && criteria.length === 0 ? [`${place}: missing acceptanceCriteria`] : []),
    ...faultsOf(story, STORY, (key, fault) => `${place}.${key} ${fault}`),
  ];
}

/** A value that is absent, `null` or of this type. */
function typed(type: "boolean" | "number" | "string"): Rule {
  return must(`a ${type}`, (value) => value === null || typeof value === type);
}

function isBlank(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === "string" && value.trim() === "");
}
