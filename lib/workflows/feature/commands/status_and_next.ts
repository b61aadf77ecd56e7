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
import { countLine, itemLine } from "../../../cli/item_list.ts";
import { nextOfBacklog, type NextView } from "../../../cli/next_view.ts";
import { hintOf, type StepCommands } from "../../../cli/next_step.ts";
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

function commandsOf(feature: string): StepCommands & { readonly retry: string } {
  return { run: `ralph run ${feature}`, retry: `ralph run ${feature} --retry-blocked` };
}

/** The item that the next iteration would take from a feature. */
export async function featureNext(look: Look): Promise<NextView> {
  const { backlog, feature: { name: feature } } = await viewFeature(look, look.scope);
  const next = await backlog.next({ inFlight: [], parked: [] });
  if (next.status === "item" && next.item.kind !== "story") {
    const { id, kind, title } = next.item;
    const item = [`every story passes; next: the final verification (\`ralph run ${feature}\`)`];
    return { blocked: false, data: { feature, status: "item", id, kind, title }, item };
  }
  const view = await nextOfBacklog(look, backlog, next, {
    done: "every story passes",
    retry: commandsOf(feature).retry,
    dataOf({ criteria, tags, data }) {
      return { acceptanceCriteria: criteria, tags, retries: (data as FeatureStory).retries };
    },
  });
  return { ...view, data: { feature, ...view.data } };
}

type StoryState = "passes" | "open" | "blocked";

const STATES = { passes: "passed", open: "open", blocked: "parked" } as const;

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
    state: stateOf(story),
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
    hint: statusHint() ?? hintOf(await backlog.next({ inFlight: [], parked: [] }), commandsOf(name)),
  };

  function statusHint(): string | null {
    if (problem !== null) return `\`ralph validate ${name}\``;
    if (prd === null) return `\`ralph prd ${name}\``;
    return changedSince > 0 ? `\`ralph run ${name}\` checks it once more` : null;
  }
}

function stateOf({ passes, blocked }: FeatureStory): StoryState {
  if (passes) return "passes";
  return blocked ? "blocked" : "open";
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
  const others = [":/", ":(top,exclude).ralph", ":(top,exclude)**/.ralph"];
  const differs = await repository.git(["diff", "--name-only", "-z", commit, "--", ...others]);
  return differs.stdout.split("\0").filter((path) => path !== "").length;
}

function linesOf(
  { counts, currentStoryId, stories, verifiedAt, changedSince }: {
    readonly counts: Overview | null;
    readonly currentStoryId: string | null;
    readonly stories: Stories;
    readonly verifiedAt: string | null;
    readonly changedSince: number;
  },
  style: Style,
): readonly string[] {
  const { dim } = style;
  return [
    ...(counts === null ? [] : [countLine(counts, { items: "stories", parked: "blocked" }, style)]),
    ...stories.flatMap(({ id, title, state, tags, retries, passes, lastResult, checks, notes }) => [
      `  ${
        itemLine({
          id,
          title,
          state: STATES[state],
          notes: [
            ...(tags.length === 0 ? [] : [dim(`[${tags.join(", ")}]`)]),
            ...(passes && lastResult !== null ? [dim(lastResult.commit)] : []),
            ...(retries === 0 || passes ? [] : [dim(`${retries} failed`)]),
            ...(id === currentStoryId ? [dim("(in work)")] : []),
          ],
          isUnchecked: checks.length === 0,
        }, style)
      }`,
      ...(state === "blocked" ? [`      ${dim(oneLine(headlineOf(notes)))}`] : []),
    ]),
    ...(verifiedAt === null ? [] : [verifiedLine(localTime(verifiedAt), changedSince, style)]),
  ];
}

function verifiedLine(time: string, changed: number, { good, warn }: Style): string {
  if (changed === 0) return good(`VERIFIED ${time}`);
  return warn(`VERIFIED ${time}, and ${changed} ${changed === 1 ? "file has" : "files have"} changed since`);
}
