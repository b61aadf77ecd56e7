import { localTime } from "../../../host/local_date.ts";
import { join } from "node:path";
import { headlineOf } from "../../../backlog/attempts.ts";
import { oneLine, type Style } from "../../../ui/text.ts";
import { featureBacklog } from "../backlog.ts";
import { type FeatureDirectory, listFeatures, matchFeature } from "../directories.ts";
import * as format from "../format.ts";
import { checksOf, isUi, storyCommandsOf, type UserInterface } from "../checks.ts";
import type { FeaturePrd, FeatureStory } from "../types.ts";
import type { Config } from "../../../config/load.ts";
import type { CheckOutcome, Verification } from "../../../backlog/types.ts";
import { RalphError } from "../../../errors/ralph_error.ts";
import { featureMissing, findFeature, openFeature } from "../open_feature.ts";
import { readOrError } from "../../read_or_error.ts";
import * as views from "../../../cli/look.ts";
import type { StateFiles } from "../../../backlog/state_files.ts";
import { hintOf, type StepCommands } from "../../../cli/next_step.ts";
import { parseJson } from "../../../errors/json_syntax.ts";
import { type FileFindings, type ValidatedFile, validateFile } from "../../../cli/validated_file.ts";
import { storyFindings } from "../../stories.ts";
import type { Validated } from "../../workflow.ts";
import { validateFeaturePrd } from "../validate.ts";
import type { RalphContext } from "../../../context/context.ts";

/** Opens a feature for reading. @throws {RalphError} feature-missing, usage */
async function opened(look: views.Look, name: string) {
  const feature = await findFeature(look, name);
  const { root, config, repository, host } = look;
  const ui = namedOnly(config);
  const { answered } = await views.givenUpIn(look, { name: "feature", scope: feature.directory });
  const state = withAnswers(look.state, feature, answered);
  return { feature, state, backlog: featureBacklog({ root, config, state, repository, host }, { feature, ui }) };
}

/** The PRD as the next run begins with it: the stories that were answered are not given up on. */
function withAnswers(state: StateFiles, { prdFile }: FeatureDirectory, ids: ReadonlySet<string>): StateFiles {
  const again = (): Partial<FeatureStory> => ({ blocked: false, retries: 0 });
  const read: StateFiles["read"] = async (path) => {
    const text = await state.read(path);
    if (text === null || path !== prdFile || ids.size === 0) return text;
    const { userStories } = format.parseFeaturePrd(text, path);
    return format.changePrdText(text, path, { stories: format.storyChanges(userStories, [...ids], again) });
  };
  return { ...state, read };
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
export async function featureNext(look: views.Look): Promise<views.NextView> {
  const { backlog, feature: { name: feature } } = await opened(look, look.scope);
  const next = await backlog.next({ inFlight: [], parked: [] });
  if (next.status === "item" && next.item.kind !== "story") {
    const { id, kind, title } = next.item;
    const item = [`every story passes; next: the final verification (\`ralph run ${feature}\`)`];
    return { blocked: false, open: title, data: { feature, status: "item", id, kind, title }, item };
  }
  const view = await views.nextOfBacklog(look, backlog, next, {
    done: "every story passes",
    retry: commandsOf(feature).retry,
    dataOf({ criteria, tags, data }) {
      return { acceptanceCriteria: criteria, tags, retries: (data as FeatureStory).retries };
    },
  });
  return { ...view, data: { feature, ...view.data } };
}

const STATES = { passes: "passed", open: "open", blocked: "parked" } as const;

/** The state of a feature's stories. Without a name all features, where there are several; after `ralph init` there is none. */
export async function featureStatus(look: views.Look): Promise<readonly views.StatusView[]> {
  if (look.scope !== "") return [await statusOf(look, look.scope)];
  const all = await listFeatures(look.root);
  if (all.length === 0) {
    return [{ data: { feature: null }, lines: ["no feature yet"], problem: null, hint: "`ralph prd FEATURE`" }];
  }
  const isNewest = ({ name, date }: FeatureDirectory): boolean =>
    all.every((other) => other.name.toLowerCase() !== name.toLowerCase() || other.date <= date);
  const quiet = { ...look, say: () => {} };
  return await Promise.all(all.filter(isNewest).map(({ name }) => statusOf(quiet, name)));
}

async function statusOf(look: views.Look, scope: string): Promise<views.StatusView> {
  const { config, style } = look;
  const { feature, state, backlog } = await opened(look, scope);
  const { name, path } = feature;
  const { value: prd, error } = await readOrError(() => format.readFeaturePrd(state, feature));
  const { currentStoryId = null, verifiedAt = null, learnings = [] } = prd?.run ?? {};
  const stories = (prd?.userStories ?? []).map((story) => ({
    ...story,
    state: stateOf(story),
    checks: checksOf([story], config, namedOnly(config)).map((check) => check.name),
  }));
  const changedSince = verifiedAt === null ? 0 : await changedSinceVerified(look, feature);
  const counts = prd === null ? null : await backlog.overview({ parked: [] });
  return {
    title: `feature ${name}`,
    path,
    data: { feature: name, path, counts, currentStoryId, verifiedAt, changedSince, learnings, stories },
    open: stories.filter(({ state }) => state === "open"),
    lines: [
      ...(prd === null && error === null ? ["not finalized: there is prd.md, and no prd.json yet"] : []),
      ...(counts === null ? [] : [views.countLine(counts, { items: "stories", parked: "blocked" }, style)]),
      ...stories.flatMap((story) => storyLines(story, currentStoryId, style)),
      ...(verifiedAt === null ? [] : [verifiedLine(localTime(verifiedAt), changedSince, style)]),
    ],
    problem: error?.message ?? null,
    hint: statusHint() ?? hintOf(await backlog.next({ inFlight: [], parked: [] }), commandsOf(name)),
  };

  function statusHint(): string | null {
    if (error !== null) return `\`ralph validate ${name}\``;
    if (prd === null) return `\`ralph prd ${name}\``;
    return changedSince > 0 ? `\`ralph run ${name}\` checks it once more` : null;
  }
}

function stateOf({ passes, blocked }: FeatureStory): keyof typeof STATES {
  if (passes) return "passes";
  return blocked ? "blocked" : "open";
}

/** Files that differ from the commit that recorded the verification; what is the workflow's own does not count. */
async function changedSinceVerified({ repository, root }: views.Look, { prdFile }: FeatureDirectory): Promise<number> {
  if (repository === null) return 0;
  const commit = (await repository.git(["log", "-1", "--format=%H", "--", join(root, prdFile)])).stdout.trim();
  if (commit === "") return 0;
  const others = [":/", ":(top,exclude).ralph", ":(top,exclude)**/.ralph"];
  const differs = await repository.git(["diff", "--name-only", "-z", commit, "--", ...others]);
  return differs.stdout.split("\0").filter((path) => path !== "").length;
}

function storyLines(
  { checks, state, ...story }: FeatureStory & {
    readonly checks: readonly string[];
    readonly state: keyof typeof STATES;
  },
  currentStoryId: string | null,
  style: Style,
): readonly string[] {
  const { id, title, tags, retries, passes, lastResult, notes } = story;
  const facts = [
    ...(tags.length === 0 ? [] : [`[${tags.join(", ")}]`]),
    ...(passes && lastResult !== null ? [lastResult.commit] : []),
    ...(retries === 0 || passes ? [] : [`${retries} failed`]),
    ...(id === currentStoryId ? ["(in work)"] : []),
  ];
  const item = { id, title, state: STATES[state], notes: facts.map(style.dim), isUnchecked: checks.length === 0 };
  return [
    `  ${views.itemLine(item, style)}`,
    ...(state === "blocked" ? [`      ${style.dim(oneLine(headlineOf(notes)))}`] : []),
  ];
}

function verifiedLine(time: string, changed: number, { good, warn }: Style): string {
  if (changed === 0) return good(`VERIFIED ${time}`);
  return warn(`VERIFIED ${time}, and ${changed} ${changed === 1 ? "file has" : "files have"} changed since`);
}

/** The PRD of a feature, or of all features where none is named. @throws {RalphError} feature-missing */
export async function validateFeature(validated: Validated): Promise<readonly ValidatedFile[]> {
  const { root, scope } = validated;
  const features = await listFeatures(root);
  const match = scope === "" ? null : matchFeature(features, scope);
  if (scope !== "" && match === null) throw await featureMissing(scope, features, null);
  return await Promise.all(
    (match === null ? features : [match]).map(({ name, prdFile }) =>
      validateFile(root, prdFile, {
        missing: [`not finalized yet: \`ralph prd ${name}\``],
        check: (text) => prdFindings(text, prdFile, validated),
      })
    ),
  );
}

async function prdFindings(text: string, path: string, validated: Validated): Promise<FileFindings> {
  const { config } = validated;
  const data = parseJson(text, path);
  const problems = validateFeaturePrd(data);
  if (problems.length > 0) return { problems, warnings: [] };
  const { branchName, userStories } = format.withDefaults(data as Partial<FeaturePrd>);
  const stories = userStories.map((story) => {
    if (config === null) return { story, own: [], unchecked: false };
    const { first, ui } = storyCommandsOf(story, config);
    const shared = [...config.verify.default, ...config.verify.ui];
    const own = [...first, ...ui].filter((command) => !shared.includes(command));
    return { story, own, unchecked: first.length + ui.length === 0 };
  });
  return await storyFindings(validated, branchName, stories);
}

/** Every check of every story, services and pages included; before the first feature those of `verify.default`. */
export async function featureVerify(ralph: RalphContext, name: string): Promise<Verification> {
  const { verify } = await import("../../../checks/verify.ts"); // the views run no check
  const common = ralph.config.verify.default;
  if (name === "" && common.length > 0 && (await listFeatures(ralph.root)).length === 0) {
    return await verify(ralph, common);
  }
  const feature = await openFeature(ralph, name);
  const { userStories } = await format.loadFeaturePrd(ralph.state, feature);
  const { openServices } = await import("../../../services/create_services.ts");
  const { featureInterface } = await import("../feature_interface.ts");
  await using services = openServices(ralph);
  const { ui, prepare } = featureInterface(ralph, feature, services);
  if (userStories.some(isUi)) await prepare(userStories.filter(isUi));
  return await verify(ralph, checksOf(userStories, ralph.config, ui));
}
