import { isoNow, localTime } from "../../host/local_date.ts";
import type { RalphContext } from "../../context/context.ts";
import type { EventSink } from "../../events/types.ts";
import { listedStory, storyOverview } from "../stories.ts";
import { type Listed, passedOf } from "../../backlog/list.ts";
import type { Backlog } from "../../backlog/types.ts";
import { fingerprintOf, startable, withFailure } from "../../backlog/attempts.ts";
import { presentPaths } from "../../host/files.ts";
import { type FeatureDirectory, IGNORE_FILE } from "./directories.ts";
import { type FeatureFindings, featureFindings, featureSignals, learningsByHand, learningsChange } from "./claim.ts";
import { changePrdText, loadFeaturePrd, parseFeaturePrd, storyChanges, unaccepted } from "./format.ts";
import * as settle from "./settle.ts";
import { featureReviewPrompt, featureStoryPrompt } from "./prompt.ts";
import { checksOf, isUi, type UserInterface } from "./checks.ts";
import type { FeatureStory } from "./types.ts";

/** The part of the context that the backlog needs. */
export interface FeatureBacklogContext extends Pick<RalphContext, "config" | "host" | "repository" | "root" | "state"> {
  readonly events?: EventSink;
  readonly loop?: { readonly retryBlocked: boolean; readonly anyOrder?: boolean };
}

/** Which feature, and what its `ui` stories are looked at with. */
export interface FeatureBacklogOptions {
  readonly feature: FeatureDirectory;
  /** Servers and browser. @default none: only commands are run */
  readonly ui?: UserInterface;
  /** Called before the first item where a `ui` story is left: nothing is paid for where no page could be opened. */
  readonly prepare?: (stories: readonly FeatureStory[]) => Promise<void>;
  /** Take up blocked stories again, each once. @default the context's */
  readonly retryBlocked?: boolean;
}

/** An item of this backlog carries a story, or all of them for the final verification. */
export type FeatureItemData = FeatureStory | readonly FeatureStory[];

/** The item that reviews all stories. */
const REVIEW = {
  id: "final-verification",
  kind: "review",
  review: true,
  preparatory: true,
  title: "Final verification",
  exclusive: true,
} as const;

/**
 * A feature's PRD: one story an iteration, lowest priority first; after the last one the final verification, whose
 * RESET opens stories again. Retries, blocked stories and learnings live in the PRD itself.
 *
 * @throws {RalphError} state-missing, state-invalid from every call that reads the file
 *
 * @example A feature's stories without a browser
 * ```ts
 * import { featureBacklog, openFeature } from "ralph/feature";
 * import { testContext } from "ralph/testing";
 *
 * await using ralph = await testContext({ files: { ".ralph/2026-01-31-hello/prd.md": "# Hello\n" } });
 * const backlog = featureBacklog(ralph, { feature: await openFeature(ralph) });
 * console.log(backlog.stateFiles); // [ ".ralph/2026-01-31-hello/prd.json" ]
 * ```
 */
export function featureBacklog(
  ralph: FeatureBacklogContext,
  options: FeatureBacklogOptions,
): Backlog<FeatureItemData, FeatureFindings> {
  const { feature, ui = null } = options;
  const { config } = ralph;
  const store = prdIn(ralph, feature);
  return {
    name: "feature",
    scope: feature.directory,
    ownFiles: [IGNORE_FILE],
    stateFiles: [store.file],
    unverified: "block",
    concurrent: config.services.length === 0, // servers run in one tree
    async brief() {
      const { branchName, description, userStories } = await store.load();
      const fingerprint = fingerprintOf(userStories.map((story) => [story.id, settle.printOf(story)]));
      return { goal: description, branch: branchName, fingerprint, files: [feature.markdownFile] };
    },

    policy: {
      /** Retries are counted in the PRD, over all runs. */
      retries({ number }, { data }) {
        return isStories(data) ? config.maxRetries : number + config.maxRetries - settle.retriesOf(data) - 1;
      },
    },

    ...offered(ralph, options, store),
    ...recorded(ralph, store),

    async work({ data }, { attempt, nonce, previous }) {
      const read = await store.load();
      const prd = { ...read, branchName: await ralph.repository?.currentBranch() ?? read.branchName };
      const known = { root: ralph.root, nonce, previous };
      if (isStories(data)) {
        const checks = checksOf(data, config, ui);
        return { prompt: await featureReviewPrompt(prd, { ...known, checks }), checks, checkFirst: true };
      }
      const checks = checksOf([data], config, ui);
      const servers = isUi(data) ? await ui?.running?.() ?? [] : [];
      return { prompt: await featureStoryPrompt(data, { ...known, prd, attempt, checks, servers }), checks };
    },

    async judge(item, turn, { nonce, state = ralph.state }) {
      const [edit] = await state.edited([store.file]);
      const signals = featureSignals(turn.lines, nonce);
      const byHand = edit === undefined ? [] : learningsByHand(edit.found, edit.written);
      const findings: FeatureFindings = {
        learnings: [...signals.learnings, ...byHand],
        reset: signals.reset,
        reason: signals.reason,
      };
      if (isStories(item.data)) return settle.claimOfReview(item.data, signals, findings, ralph.events ?? null);
      return signals.done ? { status: "done", findings } : { status: "not-done", reason: "no DONE signal", findings };
    },

    findings: featureFindings,
  };
}

/** The PRD in its file. */
function prdIn(ralph: FeatureBacklogContext, feature: FeatureDirectory): settle.FeatureStore {
  const { config: { commits }, state } = ralph;
  const { prdFile: file } = feature;
  const commit = { subject: commits.message, paths: [file], work: false };
  const change: settle.FeatureStore["change"] = async (make) => {
    const changed = (text: string): string => changePrdText(text, file, make(parseFeaturePrd(text, file)));
    await state.update(file, (text) => text === null ? null : changed(text));
  };
  return {
    ralph,
    file,
    broughtBack: new Set(),
    load: () => loadFeaturePrd(state, feature),
    change,
    record: ({ claim }, make) =>
      change((prd) => {
        const { run, ...more } = make(prd);
        return { run: { ...learningsChange(prd.run.learnings, claim?.findings?.learnings ?? []), ...run }, ...more };
      }),
    commitOf: (body, more) => ({ ...commit, body: `ralph: ${body}`, ...more }),
  };
}

/** The stories as the loop takes them up. */
function offered(
  { config, loop }: FeatureBacklogContext,
  options: FeatureBacklogOptions,
  store: settle.FeatureStore,
): Pick<Backlog<FeatureItemData, FeatureFindings>, "next" | "overview" | "passed"> {
  const { ui = null, prepare, retryBlocked = loop?.retryBlocked ?? false } = options;
  const anyOrder = loop?.anyOrder;
  const listed = (story: FeatureStory): Listed<FeatureStory> =>
    listedStory(story, settle.printOf(story), checksOf([story], config, ui));
  const isGivenUp = ({ id, blocked }: FeatureStory): boolean => blocked && (!retryBlocked || store.broughtBack.has(id));
  let prepared = false;

  async function prepareOnce(stories: readonly FeatureStory[]): Promise<void> {
    if (!prepared) await prepare?.(stories.filter(isUi));
    prepared = true;
  }

  return {
    async overview() {
      const { userStories } = await store.load();
      const counts = storyOverview(userStories.map(listed), { isGivenUp: ({ data }) => isGivenUp(data), anyOrder });
      return { ...counts, ids: [...userStories.map(({ id }) => id), REVIEW.id] };
    },

    async next({ inFlight, parked }) {
      const { run, userStories } = await store.load();
      const todo = userStories.filter((story) => !story.passes && !isGivenUp(story));
      const open = startable(todo, { inFlight, anyOrder });
      const story = open.find(({ id }) => id === run.currentStoryId) ?? open[0];
      if (story !== undefined) {
        if (open.some(isUi)) await prepareOnce(userStories);
        return { status: "item", item: { ...listed(story).item, tags: story.tags } };
      }
      if (inFlight.length > 0) return { status: "waiting" };
      const left = userStories.filter(({ passes }) => !passes);
      if (left.length > 0) {
        return {
          status: "blocked",
          reasons: left.map(({ id, notes }) => `${id}: ${notes === "" ? "blocked" : notes}`),
          givenUp: left.filter(({ id }) => !parked.some((one) => one.id === id)).length,
        };
      }
      if (typeof run.verifiedAt === "string") {
        return { status: "done", summary: `VERIFIED ${localTime(run.verifiedAt)}` };
      }
      if (userStories.some(isUi)) await prepareOnce(userStories);
      const fingerprint = fingerprintOf(userStories.map((one) => [settle.printOf(one), one.retries, one.lastResult]));
      return { status: "item", item: { ...REVIEW, fingerprint, data: userStories } };
    },

    passed: async () => passedOf((await store.load()).userStories.map(listed)),
  };
}

/** The PRD keeps this record of a run. */
function recorded(
  { host, repository, root }: FeatureBacklogContext,
  store: settle.FeatureStore,
): Pick<Backlog<FeatureItemData, FeatureFindings>, "record" | "reopen" | "settle"> {
  const { broughtBack, change, commitOf, file, record } = store;
  return {
    async reopen(ids, reason) {
      await change(({ run, userStories }) => ({
        run: unaccepted(run),
        stories: storyChanges(userStories, ids, ({ notes }) => ({
          passes: false,
          blocked: false,
          lastResult: null,
          notes: withFailure(notes, reason),
        })),
      }));
      return { status: "open", reason, commit: commitOf(`${ids.join(", ")} sent back by the final check`) };
    },

    async record(milestone) {
      if (milestone.type === "items-told") {
        const again = (): Partial<FeatureStory> => ({ blocked: false, retries: 0 });
        await change(({ userStories }) => ({ stories: storyChanges(userStories, milestone.ids, again) }));
      }
      if (!("item" in milestone) || isStories(milestone.item.data)) return;
      const { id, blocked } = milestone.item.data;
      if (milestone.type === "item-committed" && repository !== null) {
        const work = await settle.workCommit(repository, root);
        await change(({ userStories }) => {
          const result = userStories.find((story) => story.id === id)?.lastResult ?? null;
          return result === null ? {} : { stories: new Map([[id, { lastResult: { ...result, ...work } }]]) };
        });
      }
      if (milestone.type !== "item-began") return;
      if (blocked) broughtBack.add(id);
      await change(({ run }) => ({
        run: {
          startedAt: run.startedAt ?? isoNow(host),
          currentStoryId: id,
          learnings: run.learnings,
          ...unaccepted(run),
        },
        stories: new Map(blocked ? [[id, { blocked: false, retries: 0 }]] : []),
      }));
      return commitOf(`${id} started`, { paths: [file, ...await presentPaths(root, [IGNORE_FILE])] });
    },

    async settle(item, attempt) {
      const { data } = item;
      if (attempt.status === "interrupted") {
        await record(attempt, () => ({}));
        if ((attempt.claim?.findings?.learnings ?? []).length === 0) return { status: "open" };
        return { status: "open", commit: commitOf(`${isStories(data) ? "final verification" : item.id} interrupted`) };
      }
      return isStories(data)
        ? await settle.settleReview(data, attempt, store)
        : await settle.settleStory({ ...item, data }, attempt, store);
    },
  };
}

function isStories(data: FeatureItemData): data is readonly FeatureStory[] {
  return Array.isArray(data);
}
