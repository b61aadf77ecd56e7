import { fingerprintOf, isOver, reasonOf } from "../../backlog/attempts.ts";
import { withFailure, withoutFailure } from "../../backlog/notes.ts";
import type { Attempt, Item, SettleCommit, Settlement } from "../../backlog/types.ts";
import { isoNow } from "../../host/local_date.ts";
import type { RalphContext } from "../../context/context.ts";
import type { FeatureFindings } from "./claim.ts";
import { presentPaths } from "../present_paths.ts";
import { IGNORE_FILE } from "./directories.ts";
import { type PrdChange, storyChanges } from "./format.ts";
import type { FeaturePrd, FeatureRun, FeatureStory } from "./types.ts";

/** Settlements are written here. */
export interface FeatureStore {
  readonly ralph: Pick<RalphContext, "config" | "host" | "root">;
  /** The PRD. */
  readonly file: string;
  /** Ids of blocked stories that were taken up again in this run. */
  readonly broughtBack: Set<string>;
  load(): Promise<FeaturePrd>;
  change(make: (prd: FeaturePrd) => PrdChange): Promise<void>;
  /** Changes it, and adds what the attempt's agent has learned. */
  record(attempt: Attempt<FeatureFindings>, make: (prd: FeaturePrd) => PrdChange): Promise<void>;
  commitOf(body: string, more?: Partial<SettleCommit>): SettleCommit;
}

/** Records what became of an attempt at a story that was not interrupted. The final verification has `settleReview`. */
export async function settleStory(
  item: Item<FeatureStory>,
  attempt: Attempt<FeatureFindings>,
  { ralph, file, record, commitOf }: FeatureStore,
): Promise<Settlement> {
  /** The item's story, unless a person has made another one of it meanwhile. */
  const update = (
    run: (current: string | null) => Partial<FeatureRun>,
    story: (now: FeatureStory) => Partial<FeatureStory>,
  ): Promise<void> =>
    record(attempt, (prd) => {
      const isHere = prd.userStories.some((one) => one.id === item.id && printOf(one) === item.fingerprint);
      return {
        run: run(prd.run.currentStoryId),
        stories: storyChanges(prd.userStories, isHere ? [item.id] : [], story),
      };
    });
  const cleared = (current: string | null): Partial<FeatureRun> => current === item.id ? { currentStoryId: null } : {};

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
    const paths = [file, ...await presentPaths(ralph.root, [IGNORE_FILE])];
    const more = { subject, stateSubject: ralph.config.commits.message, paths, work: true };
    return { status: "passed", commit: commitOf(`${item.id} ${result}`, more) };
  }

  const reason = reasonOf(attempt);
  // an agent that says it is blocked has used no retry
  const retries = retriesOf(item.data) + (attempt.claim?.status === "blocked" ? 0 : 1);
  const blocked = isOver(attempt);
  const said = `attempt ${retries} ${attempt.status}: ${reason}`;
  await update(
    blocked ? cleared : () => ({ currentStoryId: item.id }),
    ({ notes }) => ({ passes: false, lastResult: null, retries, blocked, notes: withFailure(notes, said) }),
  );
  const commit = commitOf(`${item.id} ${blocked ? "blocked" : "failed"}`);
  return blocked ? { status: "parked", reason, commit } : { status: "open", reason, commit };
}

/** Distinguishes a story from another one with the same id. */
export function printOf({ title, description, acceptanceCriteria }: FeatureStory): string {
  return fingerprintOf([title, description, acceptanceCriteria]);
}

/** A blocked story that is taken up again begins anew. */
export function retriesOf({ retries, blocked }: FeatureStory): number {
  return blocked ? 0 : retries;
}
