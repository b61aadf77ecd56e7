import { localTime } from "../../host/local_date.ts";
import type { RalphContext } from "../../context/context.ts";
import type { EventSink } from "../../events/types.ts";
import { passedStories, storyCounts } from "../stories.ts";
import type { Attempt, Backlog, Check, SettleCommit } from "../../backlog/types.ts";
import { fingerprintOf, startable } from "../../backlog/attempts.ts";
import { withFailure } from "../../backlog/notes.ts";
import { presentPaths } from "../present_paths.ts";
import { type FeatureDirectory, IGNORE_FILE } from "./directories.ts";
import { type FeatureFindings, featureFindings, featureSignals, learningsByHand, learningsChange } from "./claim.ts";
import { changePrdText, loadFeaturePrd, parseFeaturePrd, type PrdChange, storyChanges, unaccepted } from "./format.ts";
import { workCommit } from "./last_result.ts";
import { featureReviewPrompt, featureStoryPrompt } from "./prompt.ts";
import { claimOfReview, settleReview } from "./review.ts";
import { checksOf, isUi, type UserInterface } from "./checks.ts";
import { type FeatureStore, isoNow, printOf, retriesOf, settleStory } from "./settle.ts";
import type { FeaturePrd, FeatureStory } from "./types.ts";

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
  const { prdFile: file } = feature;
  const { config } = ralph;
  const retryBlocked = options.retryBlocked ?? ralph.loop?.retryBlocked ?? false;
  const broughtBack = new Set<string>();
  let prepared = options.prepare === undefined;

  const store: FeatureStore = { ralph, file, record: recordAttempt, commitOf };
  const load = (): Promise<FeaturePrd> => loadFeaturePrd(ralph.state, feature);

  const ownChecks = (story: FeatureStory): readonly Check[] => checksOf([story], config, ui);

  async function change(make: (prd: FeaturePrd) => PrdChange): Promise<void> {
    await ralph.state.update(
      file,
      (text) => text === null ? null : changePrdText(text, file, make(parseFeaturePrd(text, file))),
    );
  }

  async function recordAttempt(
    { claim }: Attempt<FeatureFindings>,
    make: (prd: FeaturePrd) => PrdChange,
  ): Promise<void> {
    await change((prd) => {
      const { run, ...more } = make(prd);
      return { run: { ...learningsChange(prd.run.learnings, claim?.findings?.learnings ?? []), ...run }, ...more };
    });
  }

  function commitOf(body: string, more: Partial<SettleCommit> = {}): SettleCommit {
    return { subject: config.commits.message, body: `ralph: ${body}`, paths: [file], work: false, ...more };
  }

  function isGivenUp(story: FeatureStory): boolean {
    return story.blocked && (!retryBlocked || broughtBack.has(story.id));
  }

  return {
    name: "feature",
    scope: feature.directory,
    ownFiles: [IGNORE_FILE],
    stateFiles: [file],
    unverified: "block",
    concurrent: config.services.length === 0, // servers run in one tree
    async brief() {
      const { branchName, description, userStories } = await load();
      const fingerprint = fingerprintOf(userStories.map((story) => [story.id, printOf(story)]));
      return { goal: description, branch: branchName, fingerprint, files: [feature.markdownFile] };
    },

    overview: async () =>
      storyCounts((await load()).userStories, { isGivenUp, checksOf: ownChecks, anyOrder: ralph.loop?.anyOrder }),

    async next({ inFlight, parked }) {
      const { run, userStories } = await load();
      const todo = userStories.filter((story) => !story.passes && !isGivenUp(story));
      const open = startable(todo, { inFlight, anyOrder: ralph.loop?.anyOrder });
      const story = open.find(({ id }) => id === run.currentStoryId) ?? open[0];
      if (story !== undefined) {
        if (open.some(isUi)) await prepareOnce();
        const { id, title, acceptanceCriteria: criteria, tags, priority } = story;
        const fingerprint = printOf(story);
        return {
          status: "item",
          item: { id, kind: "story", title, criteria, tags, priority, fingerprint, data: story },
        };
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
      if (userStories.some(isUi)) await prepareOnce();
      const fingerprint = fingerprintOf(userStories.map((one) => [printOf(one), one.retries, one.lastResult]));
      return { status: "item", item: { ...REVIEW, fingerprint, data: userStories } };
    },

    policy: {
      /** Retries are counted in the PRD, over all runs. */
      retries({ number }, { data }) {
        return isStories(data) ? config.maxRetries : number + config.maxRetries - retriesOf(data) - 1;
      },
    },

    passed: async () => passedStories((await load()).userStories, printOf, ownChecks),

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
      if (!("item" in milestone) || isStories(milestone.item.data)) return;
      if (milestone.type === "item-committed") await nameCommit(milestone.item.data);
      if (milestone.type !== "item-began") return;
      const { id, blocked } = milestone.item.data;
      if (blocked) broughtBack.add(id);
      await change((prd) => ({
        run: {
          startedAt: prd.run.startedAt ?? isoNow(ralph.host),
          currentStoryId: id,
          learnings: prd.run.learnings,
          ...unaccepted(prd.run),
        },
        stories: new Map(blocked ? [[id, { blocked: false, retries: 0 }]] : []),
      }));
      return commitOf(`${id} started`, { paths: [file, ...await presentPaths(ralph.root, [IGNORE_FILE])] });
    },

    async work(item, { attempt, nonce, previous }) {
      const read = await load();
      const prd = { ...read, branchName: await ralph.repository?.currentBranch() ?? read.branchName };
      if (isStories(item.data)) {
        const checks = checksOf(item.data, config, ui);
        return {
          prompt: await featureReviewPrompt(prd, { root: ralph.root, checks, nonce, previous }),
          checks,
          checkFirst: true,
        };
      }
      const checks = ownChecks(item.data);
      const servers = isUi(item.data) ? await ui?.running?.() ?? [] : [];
      const told = { root: ralph.root, prd, attempt, nonce, previous, checks, servers };
      return { prompt: await featureStoryPrompt(item.data, told), checks };
    },

    async judge(item, turn, { nonce, state = ralph.state }) {
      const [edit] = await state.edited([file]);
      const signals = featureSignals(turn.lines, nonce);
      const byHand = edit === undefined ? [] : learningsByHand(edit.found, edit.written);
      const { reset, reason } = signals;
      const findings: FeatureFindings = { learnings: [...signals.learnings, ...byHand], reset, reason };
      if (isStories(item.data)) return claimOfReview(item.data, signals, findings, ralph.events ?? null);
      return signals.done ? { status: "done", findings } : { status: "not-done", reason: "no DONE signal", findings };
    },

    findings: featureFindings,

    async settle(item, attempt) {
      const { data } = item;
      if (attempt.status === "interrupted") {
        await recordAttempt(attempt, () => ({}));
        if ((attempt.claim?.findings?.learnings ?? []).length === 0) return { status: "open" };
        return { status: "open", commit: commitOf(`${isStories(data) ? "final verification" : item.id} interrupted`) };
      }
      return isStories(data)
        ? await settleReview(data, attempt, store)
        : await settleStory({ ...item, data }, attempt, store);
    },
  };

  async function nameCommit({ id: named }: FeatureStory): Promise<void> {
    const { repository, root } = ralph;
    if (repository === null) return;
    const work = await workCommit(repository, root);
    await change(({ userStories }) => {
      const result = userStories.find(({ id }) => id === named)?.lastResult;
      if (result === undefined || result === null) return {};
      return { stories: new Map([[named, { lastResult: { ...result, ...work } }]]) };
    });
  }

  async function prepareOnce(): Promise<void> {
    if (prepared) return;
    await options.prepare?.((await load()).userStories.filter(isUi));
    prepared = true;
  }
}

function isStories(data: FeatureItemData): data is readonly FeatureStory[] {
  return Array.isArray(data);
}
