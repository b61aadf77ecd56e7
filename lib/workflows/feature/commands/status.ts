import type { Overview } from "../../../backlog/types.ts";
import type { Look } from "../../../cli/look.ts";
import type { StatusView } from "../../../cli/status_view.ts";
import { RalphError } from "../../../errors/ralph_error.ts";
import type { Style } from "../../../ui/style.ts";
import { listFeatures } from "../directories.ts";
import type { FeatureStory } from "../types.ts";
import { checkNames, type FeatureView, viewFeature } from "./view.ts";

type StoryState = "passes" | "open" | "blocked";

type Stories = readonly (FeatureStory & { readonly state: StoryState; readonly checks: readonly string[] })[];

/** Where a feature's stories stand. Without a name all features, where there are several. */
export async function featureStatus(look: Look): Promise<readonly StatusView[]> {
  const several = look.scope === "" ? await listFeatures(look.root) : [];
  if (several.length === 0) return [await statusOf(look, await viewFeature(look, look.scope))];
  const quiet = { ...look, say: () => {} };
  return await Promise.all(
    several.filter((one) => newest(one, several)).map(async ({ name }) =>
      await statusOf(look, await viewFeature(quiet, name))
    ),
  );
}

function newest(
  one: { readonly name: string; readonly date: string },
  all: readonly { readonly name: string; readonly date: string }[],
): boolean {
  return all.every((other) => other.name.toLowerCase() !== one.name.toLowerCase() || other.date <= one.date);
}

async function statusOf({ config, style }: Look, view: FeatureView): Promise<StatusView> {
  const { feature: { name, path }, backlog } = view;
  const { prd, problem } = await readPrd(view);
  const stories: Stories = (prd?.userStories ?? []).map((story) => ({
    ...story,
    state: story.passes ? "passes" as const : story.blocked ? "blocked" as const : "open" as const,
    checks: checkNames(story, config),
  }));
  const verifiedAt = prd?.run.verifiedAt ?? null;
  const counts = prd === null ? null : await backlog.overview({ parked: [] });
  const currentStoryId = prd?.run.currentStoryId ?? null;
  const own = { feature: name, path, counts, currentStoryId, verifiedAt, learnings: prd?.run.learnings ?? [], stories };
  return {
    title: `feature ${name}`,
    path,
    data: own,
    lines: [
      ...(prd === null && problem === null ? ["not finalized: there is prd.md, and no prd.json yet"] : []),
      ...linesOf(own, style),
    ],
    problem,
    hint: hintFor(name, stories, { finalized: prd !== null, broken: problem !== null, verifiedAt }),
  };
}

async function readPrd(
  view: FeatureView,
): Promise<{ readonly prd: Awaited<ReturnType<FeatureView["prd"]>>; readonly problem: string | null }> {
  try {
    return { prd: await view.prd(), problem: null };
  } catch (error) {
    if (RalphError.isInstance(error)) return { prd: null, problem: error.message };
    throw error;
  }
}

function hintFor(
  name: string,
  stories: Stories,
  { finalized, broken, verifiedAt }: {
    readonly finalized: boolean;
    readonly broken: boolean;
    readonly verifiedAt: string | null;
  },
): string {
  if (broken) return `\`ralph validate ${name}\``;
  if (!finalized) return `\`ralph prd ${name}\``;
  if (verifiedAt !== null) return `\`ralph verify ${name}\`, then merge its branch`;
  if (stories.some(({ state }) => state === "open")) return `\`ralph run ${name}\``;
  if (stories.some(({ state }) => state === "blocked")) return `\`ralph run ${name} --retry-blocked\``;
  return `\`ralph run ${name}\` for the final verification`;
}

function linesOf(
  { counts, currentStoryId, stories, verifiedAt }: {
    readonly counts: Overview | null;
    readonly currentStoryId: string | null;
    readonly stories: Stories;
    readonly verifiedAt: string | null;
  },
  { dim, good, warn, symbols }: Style,
): readonly string[] {
  const mark = { passes: good(symbols.passed), open: dim(symbols.open), blocked: warn(symbols.warning) };
  return [
    ...(counts === null ? [] : [
      `stories: ${counts.passed}/${counts.total} pass, ${counts.open} open${
        counts.parked === 0 ? "" : `, ${warn(`${counts.parked} blocked`)}`
      }`,
    ]),
    ...stories.flatMap((story) => {
      const tags = story.tags.length === 0 ? "" : dim(` [${story.tags.join(", ")}]`);
      const retries = story.retries === 0 || story.passes ? "" : dim(` ${story.retries} failed`);
      const now = story.id === currentStoryId ? dim(" (in work)") : "";
      const done = story.passes && story.lastResult !== null ? dim(` ${story.lastResult.commit}`) : "";
      const unchecked = story.state !== "passes" && story.checks.length === 0 ? warn(" no check") : "";
      return [
        `  ${mark[story.state]} ${story.id}  ${story.title}${tags}${done}${retries}${now}${unchecked}`,
        ...(story.state === "blocked" ? [`      ${dim(story.notes.split("\n")[0] ?? "")}`] : []),
      ];
    }),
    ...(verifiedAt === null ? [] : [good(`VERIFIED ${verifiedAt}`)]),
  ];
}
