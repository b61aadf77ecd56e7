import type { FeatureStory } from "../types.ts";
import { listFeatures } from "../directories.ts";
import { EXIT } from "../../../errors/exit_codes.ts";
import { RalphError } from "../../../errors/ralph_error.ts";
import { readLockHolder } from "../../../host/read_lock_holder.ts";
import { ownFiles } from "../../../context/own_files.ts";
import type { Overview } from "../../../backlog/types.ts";
import { openRepository } from "../../../git/open_repository.ts";
import type { Invocation } from "../../../cli/command.ts";
import { styleFor, toJson } from "../../../cli/show.ts";
import type { FeatureArgument } from "./argument.ts";
import { checkNames, type FeatureView, viewFeature } from "./view.ts";

/** What `ralph status FEATURE --json` prints. */
interface FeatureStatus {
  readonly root: string;
  readonly workflow: string;
  readonly why: string;
  readonly feature: string;
  readonly path: string;
  /** The branch that is checked out; `null`: detached, or no repository. */
  readonly branch: string | null;
  readonly agent: string | null;
  readonly running: { readonly pid: number; readonly purpose: string; readonly since: string } | null;
  readonly counts: Overview | null;
  readonly currentStoryId: string | null;
  readonly verifiedAt: string | null;
  readonly learnings: readonly string[];
  readonly stories: readonly (FeatureStory & { readonly state: StoryState; readonly checks: readonly string[] })[];
  readonly problem: string | null;
  readonly hint: string;
}

type StoryState = "passes" | "open" | "blocked";

/** `ralph status FEATURE`: where its stories stand. Without a name all features, where there are several. */
export async function featureStatus(invocation: Invocation, argument: FeatureArgument): Promise<number> {
  const { root } = argument.place;
  const several = argument.name === "" ? await listFeatures(root) : [];
  const quiet = { ...invocation, say: () => {} };
  const views = several.length === 0 ? [await viewFeature(invocation, argument)] : await Promise.all(
    several.filter((one) => newest(one, several)).map((one) => viewFeature(quiet, { ...argument, name: one.name })),
  );
  const found = await Promise.all(views.map((view) => read(invocation, view)));
  if (invocation.flags.has("json")) invocation.out(toJson(found.length === 1 ? found[0] : found));
  else {for (
      const line of found.flatMap((status, index) => [...(index === 0 ? [] : [""]), ...lines(status, invocation)])
    ) invocation.out(line);}
  return EXIT.done;
}

function newest(
  one: { readonly name: string; readonly date: string },
  all: readonly { readonly name: string; readonly date: string }[],
): boolean {
  return all.every((other) => other.name.toLowerCase() !== one.name.toLowerCase() || other.date <= one.date);
}

async function read({ host }: Invocation, view: FeatureView): Promise<FeatureStatus> {
  const { place: { root, workflow, config }, feature } = view;
  const repository = await openRepository(host, root);
  const holder = await readLockHolder(ownFiles(repository, root).runLock);
  const { prd, problem } = await readPrd(view);
  const stories = (prd?.userStories ?? []).map((story) => ({
    ...story,
    state: story.passes ? "passes" as const : story.blocked ? "blocked" as const : "open" as const,
    checks: checkNames(story, config),
  }));
  const verifiedAt = prd?.run.verifiedAt ?? null;
  return {
    root,
    workflow: workflow.name,
    why: workflow.why,
    feature: feature.name,
    path: feature.path,
    branch: (await repository?.status())?.branch ?? null,
    agent: config.provider.command ?? config.provider.preset ?? null,
    running: holder === null ? null : { pid: holder.pid, purpose: holder.purpose, since: holder.since },
    counts: prd === null ? null : await view.backlog.overview({ parked: [] }),
    currentStoryId: prd?.run.currentStoryId ?? null,
    verifiedAt,
    learnings: prd?.run.learnings ?? [],
    stories,
    problem,
    hint: hintFor(feature.name, stories, { finalized: prd !== null, broken: problem !== null, verifiedAt }),
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
  stories: FeatureStatus["stories"],
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

function lines(status: FeatureStatus, invocation: Invocation): readonly string[] {
  const { bold, dim, good, bad, warn, symbols } = styleFor(invocation, "stdout");
  const { counts, running } = status;
  const branch = status.branch === null ? "" : ` ${symbols.dot} ${status.branch}`;
  const mark = { passes: good(symbols.passed), open: dim(symbols.open), blocked: warn(symbols.warning) };
  return [
    `${bold(`feature ${status.feature}`)} ${dim(`(${status.why}) ${symbols.dot} ${status.path}${branch}`)}`,
    `agent: ${status.agent ?? warn("none configured")}`,
    ...(running === null
      ? []
      : [warn(`running: \`ralph ${running.purpose}\`, pid ${running.pid}, since ${running.since}`)]),
    ...(status.problem === null ? [] : [`${bad(symbols.failed)} ${status.problem}`]),
    ...(counts === null && status.problem === null ? ["not finalized: there is prd.md, and no prd.json yet"] : []),
    ...(counts === null ? [] : [
      `stories: ${counts.passed}/${counts.total} pass, ${counts.open} open${
        counts.parked === 0 ? "" : `, ${warn(`${counts.parked} blocked`)}`
      }`,
    ]),
    ...status.stories.flatMap((story) => {
      const tags = story.tags.length === 0 ? "" : dim(` [${story.tags.join(", ")}]`);
      const retries = story.retries === 0 || story.passes ? "" : dim(` ${story.retries} failed`);
      const now = story.id === status.currentStoryId ? dim(" (in work)") : "";
      const done = story.passes && story.lastResult !== null ? dim(` ${story.lastResult.commit}`) : "";
      const unchecked = story.state !== "passes" && story.checks.length === 0 ? warn(" no check") : "";
      return [
        `  ${mark[story.state]} ${story.id}  ${story.title}${tags}${done}${retries}${now}${unchecked}`,
        ...(story.state === "blocked" ? [`      ${dim(story.notes.split("\n")[0] ?? "")}`] : []),
      ];
    }),
    ...(status.verifiedAt === null ? [] : [good(`VERIFIED ${status.verifiedAt}`)]),
    `next: ${status.hint}`,
  ];
}
