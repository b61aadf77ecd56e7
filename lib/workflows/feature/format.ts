import { stateInvalid, stateMissing } from "../../errors/ralph_error.ts";
import { parseJson } from "../../errors/json_syntax.ts";
import type { StateFiles } from "../../backlog/state_files.ts";
import type { FeatureDirectory } from "./directories.ts";
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
  if (errors.length > 0) throw stateInvalid(path, errors.join("; "));
  return withDefaults(data as Partial<FeaturePrd>);
}

/** The PRD of a feature; `null` where there is only prd.md. @throws {RalphError} state-invalid */
export async function readFeaturePrd(state: StateFiles, { prdFile }: FeatureDirectory): Promise<FeaturePrd | null> {
  const text = await state.read(prdFile);
  return text === null ? null : parseFeaturePrd(text, prdFile);
}

/** The PRD of a feature. @throws {RalphError} state-missing, state-invalid */
export async function loadFeaturePrd(state: StateFiles, feature: FeatureDirectory): Promise<FeaturePrd> {
  const prd = await readFeaturePrd(state, feature);
  if (prd !== null) return prd;
  throw stateMissing(feature.prdFile, `\`ralph prd ${feature.name}\` makes it of prd.md`);
}

const RUN = { startedAt: null, currentStoryId: null, learnings: [] };

const STORY = {
  id: "",
  title: "",
  description: "",
  acceptanceCriteria: [],
  tags: [],
  priority: Number.MAX_SAFE_INTEGER,
  passes: false,
  retries: 0,
  blocked: false,
  lastResult: null,
  notes: "",
};

/** A document that is valid, with the fields that were left out. Keys of its own stay where they are. */
export function withDefaults(data: Partial<FeaturePrd>): FeaturePrd {
  const { run, userStories = [] } = data;
  return {
    ...data,
    schemaVersion: 2,
    project: data.project ?? "",
    branchName: data.branchName ?? "",
    description: data.description ?? "",
    run: filled<FeatureRun>(run ?? {}, RUN),
    userStories: userStories.map((story) => filled<FeatureStory>(story, STORY)),
  };
}

/** A field that is absent, or `null`, has its default. */
function filled<Whole extends object>(given: Partial<Whole>, defaults: Whole): Whole {
  const said = Object.entries(given).filter(([, value]) => value !== undefined && value !== null);
  return { ...given, ...defaults, ...Object.fromEntries(said) };
}

/** A document's changeable parts: keys of the run and, by id, keys of the stories. */
export interface PrdChange {
  readonly run?: Partial<FeatureRun>;
  readonly stories?: ReadonlyMap<string, Partial<FeatureStory>>;
}

/** The same change for each of these stories. */
export function storyChanges(
  stories: readonly FeatureStory[],
  ids: readonly string[],
  to: (story: FeatureStory) => Partial<FeatureStory>,
): NonNullable<PrdChange["stories"]> {
  return new Map(stories.filter(({ id }) => ids.includes(id)).map((story) => [story.id, to(story)]));
}

/** A run of which no final verification counts any more. */
export function unaccepted({ verifiedAt }: FeatureRun): Partial<FeatureRun> {
  return typeof verifiedAt === "string" ? { verifiedAt: null } : {};
}

/**
 * The document with these fields changed and nothing else: other keys, their order and the indentation stay, and what
 * was left out stays so. The text itself comes back where nothing differs.
 */
export function changePrdText(text: string, path: string, change: PrdChange): string {
  parseFeaturePrd(text, path);
  const data = parseJson(text, path) as FeaturePrd;
  const after = {
    ...data,
    ...(change.run === undefined ? {} : { run: { ...data.run, ...change.run } }),
    userStories: data.userStories.map((story) => ({ ...story, ...change.stories?.get(story.id) })),
  };
  return JSON.stringify(after) === JSON.stringify(data) ? text : printPrd(after, text);
}

/** JSON as the file had it: its indentation, and its end of file. */
export function printPrd(data: unknown, like = ""): string {
  const indent = /^\s*\{\r?\n([ \t]+)/.exec(like)?.[1] ?? "  ";
  return `${JSON.stringify(data, null, indent)}${like === "" || like.endsWith("\n") ? "\n" : ""}`;
}
