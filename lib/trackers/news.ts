/**
 * The words that people read on an issue. Text of agents and checks stands in fences. Pure.
 *
 * @module
 */
import { isOver, reasonOf } from "../backlog/attempts.ts";
import type { Attempt } from "../backlog/types.ts";
import { quoted } from "../prompts/parts.ts";

/** Characters of an agent's or a check's words. */
const MOST = 3000;

export const WORKING = "Ralph works on this.";
export const STOPPED = "Ralph has stopped before this was done. Its next run takes it up again.";

/** An item that passed. @param branch `null`: it is on no remote */
export function passedText(
  { commit, branch, attempt }: {
    readonly commit: string;
    readonly branch: string | null;
    /** `null`: another process judged it. */
    readonly attempt: Pick<Attempt, "status" | "verification"> | null;
  },
): string {
  const checks = (attempt?.verification?.results ?? []).map(({ name }) => name);
  const verdict = attempt === null ? "" : attempt.status === "verified" ? "; its checks passed" : "; it is unverified";
  return [
    `Done in ${commit.slice(0, 10)}${branch === null ? "" : ` on the branch \`${branch}\``}${verdict}. ` +
    "It is for review: merging it closes this issue.",
    ...checks.length === 0 ? [] : ["Checked by:", quoted(checks.join("\n"))],
  ].join("\n\n");
}

/** An attempt after which a person is asked; `null`: it is tried again. */
export function blockedText(attempt: Attempt): string | null {
  if (!isOver(attempt)) return null;
  const reason = reasonOf(attempt);
  const words = attempt.status === "blocked" ? "Ralph has a question, or cannot go on:" : "Ralph has given up on this:";
  return [
    words,
    quoted(reason.length > MOST ? `…${reason.slice(-MOST)}` : reason),
    "Edit the issue with the answer: with another text it is worked on again.",
  ].join("\n\n");
}
