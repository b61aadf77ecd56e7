import { fingerprintOf, isOver, reasonOf, withFailure, withoutFailure } from "../../backlog/attempts.ts";
import type { Attempt, Claim, Item, SettleCommit, Settlement } from "../../backlog/types.ts";
import { isoNow } from "../../host/local_date.ts";
import type { RalphContext } from "../../context/context.ts";
import type { FeatureFindings, FeatureSignals } from "./claim.ts";
import { presentPaths } from "../../host/files.ts";
import { FEATURES_FOLDER, IGNORE_FILE } from "./directories.ts";
import { type PrdChange, storyChanges, unaccepted } from "./format.ts";
import type { FeaturePrd, FeatureRun, FeatureStory, LastResult } from "./types.ts";
import type { EventSink } from "../../events/types.ts";
import type { Repository } from "../../git/repository.ts";
import { join, relative, sep } from "node:path";

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

/**
 * The claim of a final verification: RESET outweighs VERIFIED; ids that no story has are reported. `findings.reset`
 * holds the ids as the PRD writes them.
 */
export function claimOfReview(
  stories: readonly FeatureStory[],
  signals: FeatureSignals,
  given: FeatureFindings,
  events: EventSink | null,
): Claim<FeatureFindings> {
  const named = signals.reset.map((id) => ({
    id,
    known: stories.find((story) => story.id.toLowerCase() === id.toLowerCase())?.id,
  }));
  const reset = named.flatMap(({ known }) => known ?? []);
  const unknown = named.filter(({ known }) => known === undefined).map(({ id }) => id).join(", ");
  if (unknown !== "") {
    const message = `RESET names stories that the PRD does not have: ${unknown}`;
    events?.emit({ type: "note", level: "warn", message });
  }
  const findings = { ...given, reset };
  if (reset.length > 0) {
    const why = signals.reason === "" ? "no reason given" : signals.reason;
    return { status: "failed", reason: `the final verification sends back ${reset.join(", ")}: ${why}`, findings };
  }
  if (unknown !== "") return { status: "not-done", reason: `RESET names no story of this PRD: ${unknown}`, findings };
  if (signals.verified) return { status: "done", findings };
  return { status: "not-done", reason: "neither VERIFIED nor RESET", findings };
}

/**
 * Records a final verification that was not interrupted: accepted, stories sent back, or asked again.
 *
 * @param stories as they were when it was given
 */
export async function settleReview(
  stories: readonly FeatureStory[],
  attempt: Attempt<FeatureFindings>,
  { ralph: { config, host }, record, commitOf }: FeatureStore,
): Promise<Settlement> {
  if (attempt.status === "verified" || attempt.status === "unverified") {
    await record(attempt, ({ run }) => ({ run: { verifiedAt: run.verifiedAt ?? isoNow(host) } }));
    return { status: "passed", commit: commitOf("verified") };
  }
  const findings = attempt.claim?.findings;
  const reset = attempt.status === "failed" && attempt.claim?.status === "failed" ? findings?.reset ?? [] : [];
  const said = `sent back: ${findings?.reason || "sent back by the final verification"}`;
  // a commit that a hook refused takes the acceptance back
  await record(attempt, ({ run }) => ({
    run: unaccepted(run),
    stories: storyChanges(stories, reset, ({ retries, notes }) => ({
      passes: false,
      lastResult: null,
      retries: retries + 1,
      blocked: retries + 1 >= config.maxRetries,
      notes: withFailure(notes, said),
    })),
  }));
  const message = reasonOf(attempt);
  if (reset.length > 0) {
    return { status: "open", reason: message, commit: commitOf(`${reset.join(",")} reset`), reopened: reset };
  }
  const commit = commitOf("final verification failed");
  if (attempt.verification?.status === "failed") {
    const reason = `the final verification's checks fail, and no story was sent back: ${message}`;
    return { status: "stop", as: "failed", reason, commit };
  }
  if (!isOver(attempt)) return { status: "open", reason: message, commit };
  const as = attempt.claim?.status === "blocked" ? "blocked" : "failed";
  return { status: "stop", as, reason: `no usable final verification: ${message}`, commit };
}

/**
 * The newest commit that changes anything outside `.ralph/`: the agent's own, or the one that Ralph made for it. If the
 * agent had nothing to do, it is the commit that was there before.
 */
export async function workCommit(
  repository: Repository,
  root: string,
): Promise<Pick<LastResult, "commit" | "summary">> {
  const path = relative(repository.topLevel, join(root, FEATURES_FOLDER)).replaceAll(sep, "/");
  const format = ["-1", "--format=%h%x00%s"];
  const work = await repository.git(["log", ...format, "--", ".", `:(exclude,top)${path}`]);
  const found = work.stdout.trim() === "" ? await repository.git(["log", ...format]) : work;
  const [commit = "", summary = ""] = found.stdout.trim().split("\0");
  return { commit, summary };
}
