import type { Config } from "../../config/types.ts";
import type { EventSink } from "../../events/types.ts";
import type { Attempt, Claim, SettleCommit, Settlement } from "../../backlog/types.ts";
import { isOver } from "../../backlog/attempts.ts";
import { withFailure } from "../../backlog/notes.ts";
import { type FeatureFindings, type FeatureSignals, learningsChange } from "./claim.ts";
import type { PrdChange } from "./format.ts";
import type { FeaturePrd, FeatureRun, FeatureStory } from "./types.ts";

/**
 * The claim of a final verification: RESET outweighs VERIFIED; ids that no story has are reported. `findings.reset`
 * holds the ids as the PRD writes them.
 */
export function claimOfReview(
  stories: readonly FeatureStory[],
  signals: FeatureSignals,
  findings: FeatureFindings,
  events: EventSink | null,
): Claim<FeatureFindings> {
  const ids = signals.reset.map((id) =>
    stories.find((story) => story.id.toLowerCase() === id.toLowerCase())?.id ?? null
  );
  const reset = ids.filter((id) => id !== null);
  const unknown = signals.reset.filter((_id, index) => ids[index] === null);
  if (unknown.length > 0) {
    events?.emit({
      type: "note",
      level: "warn",
      message: `RESET names stories that the PRD does not have: ${unknown.join(", ")}`,
    });
  }
  const found = { ...findings, reset };
  if (reset.length > 0) {
    const why = signals.reason === "" ? "no reason given" : signals.reason;
    return {
      status: "failed",
      reason: `the final verification sends back ${reset.join(", ")}: ${why}`,
      findings: found,
    };
  }
  if (unknown.length > 0) {
    return { status: "not-done", reason: `RESET names no story of this PRD: ${unknown.join(", ")}`, findings: found };
  }
  if (signals.verified) return { status: "done", findings: found };
  return { status: "not-done", reason: "neither VERIFIED nor RESET", findings: found };
}

/** A final verification to be settled. */
export interface ReviewToSettle {
  /** As they were when it was given. */
  readonly stories: readonly FeatureStory[];
  readonly attempt: Attempt<FeatureFindings>;
  readonly config: Config;
  readonly change: (make: (prd: FeaturePrd) => PrdChange) => Promise<void>;
  readonly commitOf: (body: string, more?: Partial<SettleCommit>) => SettleCommit;
  readonly now: () => string;
}

/** Records a final verification: accepted, stories sent back, or asked again. */
export async function settleReview(
  { stories, attempt, config, change, commitOf, now }: ReviewToSettle,
): Promise<Settlement> {
  const findings = attempt.claim?.findings;
  const learned = findings?.learnings ?? [];
  const learn = (prd: FeaturePrd): Partial<FeatureRun> => learningsChange(prd.run.learnings, learned);
  if (attempt.status === "interrupted") {
    await change((prd) => ({ run: learn(prd) }));
    return { status: "open", ...(learned.length === 0 ? {} : { commit: commitOf("final verification interrupted") }) };
  }
  if (attempt.status === "verified" || attempt.status === "unverified") {
    await change((prd) => ({ run: { ...learn(prd), verifiedAt: prd.run.verifiedAt ?? now() } }));
    return { status: "passed", commit: commitOf("verified") };
  }

  const reset = attempt.status === "failed" && attempt.claim?.status === "failed" ? findings?.reset ?? [] : [];
  const message = "message" in attempt ? attempt.message : attempt.status;
  if (reset.length === 0) {
    // a commit that a hook refused takes the acceptance back
    await change((prd) => ({
      run: { ...learn(prd), ...(typeof prd.run.verifiedAt === "string" ? { verifiedAt: null } : {}) },
    }));
    const checksFailed = attempt.verification?.status === "failed";
    const commit = commitOf("final verification failed");
    if (checksFailed) {
      return {
        status: "stop",
        as: "failed",
        reason: `the final verification's checks fail, and no story was sent back: ${message}`,
        commit,
      };
    }
    if (isOver(attempt)) {
      const as = attempt.claim?.status === "blocked" ? "blocked" : "failed";
      return { status: "stop", as, reason: `no usable final verification: ${message}`, commit };
    }
    return { status: "open", reason: message, commit };
  }

  const reason = findings?.reason === undefined || findings.reason === ""
    ? "sent back by the final verification"
    : findings.reason;
  const changes = new Map(
    stories.filter(({ id }) => reset.includes(id)).map((
      story,
    ) => [story.id, sentBack(story, reason, config.maxRetries)]),
  );
  await change((prd) => ({
    run: { ...learn(prd), ...(typeof prd.run.verifiedAt === "string" ? { verifiedAt: null } : {}) },
    stories: changes,
  }));
  return { status: "open", reason: message, commit: commitOf(`${reset.join(",")} reset`), reopened: reset };
}

function sentBack(story: FeatureStory, reason: string, maxRetries: number): Partial<FeatureStory> {
  const retries = story.retries + 1;
  return {
    passes: false,
    lastResult: null,
    retries,
    blocked: retries >= maxRetries,
    notes: withFailure(story.notes, `sent back: ${reason}`),
  };
}
