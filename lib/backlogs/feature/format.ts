import { RalphError } from "../../errors/ralph_error.ts";
import { parseJson } from "../prd/format.ts";
import type { FeaturePrd, FeatureRun, FeatureStory } from "./types.ts";
import { validateFeaturePrd } from "./validate.ts";

/**
 * Reads a feature's PRD, defaults filled in, and refuses whatever is not one.
 *
 * @param path named in the error
 * @throws {RalphError} state-invalid
 */
export function parseFeaturePrd(text: string, path: string): FeaturePrd {
  const data = parseJson(text, path);
  const errors = validateFeaturePrd(data);
  if (errors.length > 0) throw new RalphError("state-invalid", { details: { path, problem: errors.join("; ") } });
  return withDefaults(data as Partial<FeaturePrd>);
}

/** A document that is valid, with the fields that were left out. Keys of its own stay where they are. */
export function withDefaults(data: Partial<FeaturePrd>): FeaturePrd {
  const { run, userStories = [] } = data;
  return {
    ...data,
    schemaVersion: 2,
    project: data.project ?? "",
    branchName: data.branchName ?? "",
    description: data.description ?? "",
    run: {
      ...run,
      startedAt: run?.startedAt ?? null,
      currentStoryId: run?.currentStoryId ?? null,
      learnings: run?.learnings ?? [],
    },
    userStories: userStories.map(storyWithDefaults),
  };
}

function storyWithDefaults(story: Partial<FeatureStory>): FeatureStory {
  return {
    ...story,
    id: story.id ?? "",
    title: story.title ?? "",
    description: story.description ?? "",
    acceptanceCriteria: story.acceptanceCriteria ?? [],
    tags: story.tags ?? [],
    priority: story.priority ?? Number.MAX_SAFE_INTEGER,
    passes: story.passes ?? false,
    retries: story.retries ?? 0,
    blocked: story.blocked ?? false,
    lastResult: story.lastResult ?? null,
    notes: story.notes ?? "",
  };
}

/** What may be changed in a document: of the run and, by id, of the stories. */
export interface PrdChange {
  readonly run?: Partial<FeatureRun>;
  readonly stories?: ReadonlyMap<string, Partial<FeatureStory>>;
}

/**
 * The document with these fields changed and nothing else: other keys, their order and the indentation stay, and what
 * was left out stays so. The text itself comes back where nothing differs.
 */
export function changePrdText(text: string, path: string, change: PrdChange): string {
  const before = parseFeaturePrd(text, path);
  const data = parseJson(text, path) as FeaturePrd;
  const after = {
    ...data,
    ...changed("run", before.run, data.run, change.run ?? {}),
    userStories: data.userStories.map((story, index) => {
      const known = before.userStories[index] as FeatureStory;
      return { ...story, ...differing(known, change.stories?.get(known.id) ?? {}) };
    }),
  };
  if (JSON.stringify(after) === JSON.stringify(data)) return text;
  return printPrd(after, text);
}

function changed(key: "run", before: FeatureRun, data: FeatureRun | undefined, change: Partial<FeatureRun>): object {
  const fields = differing(before, change);
  return Object.keys(fields).length === 0 ? {} : { [key]: { ...data, ...fields } };
}

function differing<Value extends object>(before: Value, change: Partial<Value>): Partial<Value> {
  const entries = Object.entries(change) as [keyof Value, unknown][];
  return Object.fromEntries(
    entries.filter(([key, value]) => JSON.stringify(before[key]) !== JSON.stringify(value)),
  ) as Partial<Value>;
}

/** JSON as the file had it: its indentation, and its end of file. */
export function printPrd(data: unknown, like = ""): string {
  const indent = /^\s*\{\r?\n([ \t]+)/.exec(like)?.[1] ?? "  ";
  const end = like === "" || like.endsWith("\n") ? "\n" : "";
  return `${JSON.stringify(data, null, indent)}${end}`;
}
