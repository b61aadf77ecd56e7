import { localTime } from "../../../host/local_date.ts";
import { join } from "node:path";
import type { Repository } from "../../../git/types.ts";
import { headlineOf } from "../../../backlog/verdict.ts";
import { oneLine } from "../../../ui/printable.ts";
import { featureBacklog, type FeatureItemData } from "../backlog.ts";
import { type FeatureDirectory, listFeatures } from "../directories.ts";
import type { FeatureFindings } from "../claim.ts";
import { parseFeaturePrd } from "../format.ts";
import { checksOf, type UserInterface } from "../checks.ts";
import type { FeaturePrd, FeatureStory } from "../types.ts";
import type { Config } from "../../../config/types.ts";
import type { Backlog, CheckOutcome, Overview } from "../../../backlog/types.ts";
import { RalphError } from "../../../errors/ralph_error.ts";
import { findFeature } from "../open_feature.ts";
import type { Look } from "../../../cli/look.ts";
import { itemLines, type NextView, withoutItem } from "../../../cli/next_view.ts";
import type { StatusView } from "../../../cli/status_view.ts";
import type { Style } from "../../../ui/style.ts";

/** A feature for commands that only look. */
export interface FeatureView {
  readonly feature: FeatureDirectory;
  readonly backlog: Backlog<FeatureItemData, FeatureFindings>;
  /** `null` where only prd.md is there. @throws {RalphError} state-invalid */
  readonly prd: () => Promise<FeaturePrd | null>;
}

/** Opens a feature for reading. @throws {RalphError} feature-missing, usage */
export async function viewFeature(look: Look, name: string): Promise<FeatureView> {
  const { root, config, repository, state, host, say } = look;
  const { feature, said } = await findFeature(root, name, repository);
  if (said !== null) say(said);
  return {
    feature,
    backlog: featureBacklog({ root, config, state, repository, host }, { feature, ui: namedOnly(config) }),
    async prd() {
      const text = await state.read(feature.prdFile);
      return text === null ? null : parseFeaturePrd(text, feature.prdFile);
    },
  };
}

/** The names of a story's checks, in the order in which they run. */
export function checkNames(story: FeatureStory, config: Config): readonly string[] {
  return checksOf([story], config, namedOnly(config)).map(({ name }) => name);
}

/** Services and pages by name: nothing is started. */
function namedOnly({ services: [first], services }: Config): UserInterface {
  return {
    base: first === undefined ? null : new URL(first.ready).origin,
    services: () => services.map(({ name }) => ({ name: `service ${name}`, scope: "service", run: notRun })),
    browser: (story, pages) => ({
      name: `browser ${pages.map(({ written }) => written).join(", ")}`,
      scope: story.id,
      run: notRun,
    }),
  };
}

/** A view only names its checks. */
function notRun(): Promise<CheckOutcome> {
  return Promise.reject(new RalphError("internal", { details: { problem: "a check of a view was run" } }));
}

/** What the next iteration would take of a feature. */
export async function featureNext(look: Look): Promise<NextView> {
  const { config, style } = look;
  const { backlog, feature: { name: feature } } = await viewFeature(look, look.scope);
  const next = await backlog.next({ inFlight: [], parked: [] });
  if (next.status !== "item") {
    const done = next.status === "done" ? next.summary ?? "every story passes" : "";
    const view = withoutItem(next, { done, retry: `ralph run ${feature} --retry-blocked` });
    return { ...view, data: { feature, ...next } };
  }
  const { id, kind, title } = next.item;
  const data = { feature, status: "item", id, kind, title };
  if (kind !== "story") {
    const item = [`every story passes; next: the final verification (\`ralph run ${feature}\`)`];
    return { blocked: false, data, item };
  }
  const story = next.item.data as FeatureStory;
  const { acceptanceCriteria, tags, retries } = story;
  const checks = checkNames(story, config);
  return {
    blocked: false,
    data: { ...data, acceptanceCriteria, tags, retries, checks },
    item: itemLines({ id, title, criteria: acceptanceCriteria, checks }, style),
  };
}

type StoryState = "passes" | "open" | "blocked";

type Stories = readonly (FeatureStory & { readonly state: StoryState; readonly checks: readonly string[] })[];

/** The state of a feature's stories. Without a name all features, where there are several; after `ralph init` there is none. */
export async function featureStatus(look: Look): Promise<readonly StatusView[]> {
  const several = look.scope === "" ? await listFeatures(look.root) : [];
  if (look.scope === "" && several.length === 0) {
    return [{ data: { feature: null }, lines: ["no feature yet"], problem: null, hint: "`ralph prd FEATURE`" }];
  }
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

async function statusOf({ config, repository, root, style }: Look, view: FeatureView): Promise<StatusView> {
  const { feature: { name, path }, backlog } = view;
  const { prd, problem } = await readPrd(view);
  const stories: Stories = (prd?.userStories ?? []).map((story) => ({
    ...story,
    state: story.passes ? "passes" as const : story.blocked ? "blocked" as const : "open" as const,
    checks: checkNames(story, config),
  }));
  const verifiedAt = prd?.run.verifiedAt ?? null;
  const changedSince = verifiedAt === null ? 0 : await changedSinceVerified(repository, root, view.feature);
  const counts = prd === null ? null : await backlog.overview({ parked: [] });
  const currentStoryId = prd?.run.currentStoryId ?? null;
  const own = {
    feature: name,
    path,
    counts,
    currentStoryId,
    verifiedAt,
    changedSince,
    learnings: prd?.run.learnings ?? [],
    stories,
  };
  return {
    title: `feature ${name}`,
    path,
    data: own,
    lines: [
      ...(prd === null && problem === null ? ["not finalized: there is prd.md, and no prd.json yet"] : []),
      ...linesOf(own, style),
    ],
    problem,
    hint: hintFor(name, stories, { finalized: prd !== null, broken: problem !== null, verifiedAt, changedSince }),
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

/** Files that differ from the commit that recorded the verification; what is the workflow's own does not count. */
async function changedSinceVerified(
  repository: Repository | null,
  root: string,
  { prdFile }: FeatureDirectory,
): Promise<number> {
  if (repository === null) return 0;
  const recorded = await repository.git(["log", "-1", "--format=%H", "--", join(root, prdFile)]);
  const commit = recorded.stdout.trim();
  if (commit === "") return 0;
  const differs = await repository.git([
    "diff",
    "--name-only",
    "-z",
    commit,
    "--",
    ":/",
    ":(top,exclude).ralph",
    ":(top,exclude)**/.ralph",
  ]);
  return differs.stdout.split("\0").filter((path) => path !== "").length;
}

function hintFor(
  name: string,
  stories: Stories,
  { finalized, broken, verifiedAt, changedSince }: {
    readonly finalized: boolean;
    readonly broken: boolean;
    readonly changedSince: number;
    readonly verifiedAt: string | null;
  },
): string {
  if (broken) return `\`ralph validate ${name}\``;
  if (!finalized) return `\`ralph prd ${name}\``;
  if (verifiedAt !== null && changedSince > 0) return `\`ralph run ${name}\` checks it once more`;
  if (verifiedAt !== null) return `\`ralph verify ${name}\`, then merge its branch`;
  if (stories.some(({ state }) => state === "open")) return `\`ralph run ${name}\``;
  if (stories.some(({ state }) => state === "blocked")) return `\`ralph run ${name} --retry-blocked\``;
  return `\`ralph run ${name}\` for the final verification`;
}

function linesOf(
  { counts, currentStoryId, stories, verifiedAt, changedSince }: {
    readonly counts: Overview | null;
    readonly currentStoryId: string | null;
    readonly stories: Stories;
    readonly verifiedAt: string | null;
    readonly changedSince: number;
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
        ...(story.state === "blocked" ? [`      ${dim(oneLine(headlineOf(story.notes)))}`] : []),
      ];
    }),
    ...(verifiedAt === null ? [] : changedSince === 0 ? [good(`VERIFIED ${localTime(verifiedAt)}`)] : [
      warn(
        `VERIFIED ${localTime(verifiedAt)}, and ${changedSince} ${
          changedSince === 1 ? "file has" : "files have"
        } changed since`,
      ),
    ]),
  ];
}
