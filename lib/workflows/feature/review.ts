import type { EventSink } from "../../events/types.ts";
import type { Attempt, Claim, Settlement } from "../../backlog/types.ts";
import { isOver, reasonOf } from "../../backlog/attempts.ts";
import { isoNow } from "../../host/local_date.ts";
import { withFailure } from "../../backlog/notes.ts";
import type { FeatureFindings, FeatureSignals } from "./claim.ts";
import { storyChanges, unaccepted } from "./format.ts";
import type { FeatureStore } from "./settle.ts";
import type { FeatureStory } from "./types.ts";

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
