import { fingerprintOf, isOver, reasonOf } from "../../backlog/attempts.ts";
import { withFailure, withoutFailure } from "../../backlog/notes.ts";
import type { Attempt, Item, SettleCommit, Settlement } from "../../backlog/types.ts";
import type { Config } from "../../config/types.ts";
import type { Repository } from "../../git/types.ts";
import type { Host } from "../../host/types.ts";
import { type FeatureFindings, learningsChange } from "./claim.ts";
import { committedPaths } from "./directories.ts";
import type { PrdChange } from "./format.ts";
import type { FeaturePrd, FeatureStory } from "./types.ts";

/** The place to which a settlement is written. */
interface Place {
  readonly ralph: {
    readonly root: string;
    readonly config: Config;
    readonly repository: Repository | null;
    readonly host: Host;
  };
  /** The PRD. */
  readonly file: string;
  readonly change: (make: (prd: FeaturePrd) => PrdChange) => Promise<void>;
  readonly commitOf: (body: string, more?: Partial<SettleCommit>) => SettleCommit;
}

/** Records what became of an attempt at a story, and what was learned. The final verification has `settleReview`. */
export async function settleStory(
  item: Item<FeatureStory>,
  attempt: Attempt<FeatureFindings>,
  { ralph, file, change, commitOf }: Place,
): Promise<Settlement> {
  const learned = attempt.claim?.findings?.learnings ?? [];
  const update = (run: (prd: FeaturePrd) => PrdChange["run"], story: Update): Promise<void> =>
    change((prd) => ({
      run: { ...learningsChange(prd.run.learnings, learned), ...run(prd) },
      stories: changed(prd, item, story),
    }));
  const cleared = (prd: FeaturePrd): PrdChange["run"] =>
    prd.run.currentStoryId === item.id ? { currentStoryId: null } : {};

  if (attempt.status === "interrupted") {
    await update(() => ({}), () => ({}));
    return { status: "open", ...(learned.length === 0 ? {} : { commit: commitOf(`${item.id} interrupted`) }) };
  }
  if (attempt.status === "verified" || attempt.status === "unverified") {
    const subject = `feat: ${item.id} - ${item.title}`;
    await update(cleared, ({ passes, lastResult, notes }) => ({
      passes: true,
      blocked: false,
      retries: retriesOf(item.data),
      notes: withoutFailure(notes),
      lastResult: {
        completedAt: passes && lastResult !== null ? lastResult.completedAt : isoNow(ralph.host),
        commit: "",
        summary: subject,
      },
    }));
    const result = attempt.status === "verified" ? "passed" : "unverified";
    const stateSubject = ralph.config.commits.message;
    const paths = await committedPaths(ralph.root, file);
    const more = { subject, stateSubject, paths, work: true };
    return { status: "passed", commit: commitOf(`${item.id} ${result}`, more) };
  }

  const reason = reasonOf(attempt);
  // an agent that says it is blocked has used no retry
  const retries = retriesOf(item.data) + (attempt.claim?.status === "blocked" ? 0 : 1);
  const blocked = isOver(attempt);
  const said = `attempt ${retries} ${attempt.status}: ${reason}`;
  await update(
    blocked ? cleared : (prd) => prd.run.currentStoryId === item.id ? {} : { currentStoryId: item.id },
    ({ notes }) => ({ passes: false, lastResult: null, retries, blocked, notes: withFailure(notes, said) }),
  );
  const commit = commitOf(`${item.id} ${blocked ? "blocked" : "failed"}`);
  return blocked ? { status: "parked", reason, commit } : { status: "open", reason, commit };
}

/** Computes the story's changes from its present state in the PRD. */
type Update = (now: FeatureStory) => Partial<FeatureStory>;

/** The item's story, unless a person has made another one of it meanwhile. */
function changed(
  { userStories }: FeaturePrd,
  item: Item<FeatureStory>,
  update: Update,
): NonNullable<PrdChange["stories"]> {
  if (!userStories.some((story) => story.id === item.id && printOf(story) === item.fingerprint)) return new Map();
  return new Map(userStories.filter(({ id }) => id === item.id).map((now) => [now.id, update(now)]));
}

/** Distinguishes a story from another one with the same id. */
export function printOf({ title, description, acceptanceCriteria }: FeatureStory): string {
  return fingerprintOf([title, description, acceptanceCriteria]);
}

/** A blocked story that is taken up again begins anew. */
export function retriesOf({ retries, blocked }: FeatureStory): number {
  return blocked ? 0 : retries;
}

/** Now, as the PRD writes it. */
export function isoNow(host: Host): string {
  return new Date(host.clock.now()).toISOString();
}
