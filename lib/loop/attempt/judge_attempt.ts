import type { Attempt, Turn, Verification, Work, WorkDone } from "../../backlog/types.ts";
import { verdictOf } from "../../backlog/attempts.ts";
import { restoreBrief } from "../../checks/brief/create_brief.ts";
import { verify } from "../../checks/verify.ts";
import { allowsUnverified, type AttemptParts, failedBefore, isReview, type TakenTurn } from "./attempt_parts.ts";
import type { RalphContext } from "../../context/context.ts";
import { pathsOutside } from "../../checks/guards.ts";
import { unresolvedIn, unresolvedMessage } from "../../git/conflict_markers.ts";
import { requireRepository, rootPaths, topLevelPaths } from "../../git/repository.ts";

/** An attempt as it is known before anything is judged. */
export type Attempted = Pick<
  Attempt,
  "id" | "number" | "claim" | "turn" | "verification"
>;

/** The agent was ended by the clock: a server or a test that it left running keeps many from ending by themselves. */
export function hung(reason: Turn["end"]["reason"]): boolean {
  return reason === "timed-out" || reason === "idle";
}

/** Ends that no claim and no check can change, or `null`. */
export async function endedBy(
  { ralph, backlog, work, signal }: AttemptParts,
  { turn, rewritten, swapped, refusal, restored }: TakenTurn,
  attempted: Attempted,
): Promise<Attempt | null> {
  const { end } = turn;
  if (end.reason === "aborted" || signal.aborted) return { ...attempted, status: "interrupted" };
  if (rewritten !== null) {
    return { ...attempted, status: "failed", reason: rewritten.status, message: rewritten.message };
  }
  if (swapped.length > 0) {
    return { ...attempted, status: "failed", reason: "protected-file-changed", message: swapped.join("\n") };
  }
  const trespass = await trespassed(ralph, work, turn, backlog.stateFiles);
  if (trespass !== null) return { ...attempted, ...trespass };
  const touched = restored.filter(({ kind }) => kind === "protected" || ralph.config.trust === "strict");
  if (touched.length > 0) {
    const message = `changed protected files: ${touched.map(({ path }) => path).join(", ")}`;
    return { ...attempted, status: "failed", reason: "protected-file-changed", message };
  }
  if (end.reason === "agent-unusable") return { ...attempted, status: "agent-unusable", message: end.message };
  if (end.reason === "rate-limited") return { ...attempted, status: "interrupted" };
  if (end.reason !== "completed" && !(attempted.claim?.status === "done" && hung(end.reason))) {
    return { ...attempted, status: "failed", reason: end.reason, message: end.message };
  }
  return refusal === null ? null : { ...attempted, status: "failed", reason: "refused", message: refusal };
}

/** Judges the turn by the claim and then by the checks. */
export async function judged(
  parts: AttemptParts,
  { turn, claim, edited, remade }: TakenTurn,
  { attempted, first, standing }: {
    readonly attempted: Attempted;
    readonly first: Verification | null;
    readonly standing: WorkDone;
  },
): Promise<Attempt> {
  const { ralph, item, work, checks, options, brief, signal, logs } = parts;
  const { asInstructed } = brief;
  switch (claim?.status) {
    case "failed":
      return { ...attempted, status: "failed", reason: "agent-failed", message: claim.reason };
    case "blocked":
      return { ...attempted, status: "blocked", message: claim.reason };
    case "not-done":
    case undefined:
      return { ...attempted, status: "not-done", message: claim?.reason ?? "the agent did not say that it was done" };
    case "done":
      break;
  }
  const unresolved = rootPaths(
    ralph,
    await unresolvedIn(requireRepository(ralph), topLevelPaths(ralph, standing.changedFiles)),
  );
  if (unresolved.length > 0) {
    return { ...attempted, status: "failed", reason: "conflict", message: unresolvedMessage(unresolved) };
  }
  const isUnchanged = turn.changedFiles.length === 0 && !edited;
  const { verify: run } = options.beside ?? { verify };
  const verification = first !== null && work.checkFirst === true && isUnchanged ? first : await run(ralph, checks, {
    item,
    base: turn.base,
    done: standing,
    signal,
    logs,
    asInstructed,
    ...failedBefore(options),
  });
  await restoreBrief(brief, checks.some(isReview) ? undefined : "git"); // a reviewer is an agent, and checks run its code
  const failing = verification.status === "passed" && ralph.config.tests.integrity === "block"
    ? await (await import("./evidence.ts")).notBelieved(parts, { ...attempted, verification })
    : null;
  if (failing !== null) {
    return { ...attempted, verification, status: "failed", reason: "checks-not-believed", message: failing };
  }
  const verdict = verdictOf(verification, allowsUnverified(parts));
  if (verdict.status === "failed" && remade.length > 0) {
    const message = `its checks fail without ${remade.join(", ")}, which you have deleted and not committed: ` +
      "commit that, or bring it back with `git restore`, then run the same command again";
    return { ...attempted, verification, status: "failed", reason: "deleted-by-person", message };
  }
  return { ...attempted, verification, ...verdict };
}

/** The paths that a turn wrote and that its work does not allow, or `null`. */
async function trespassed(ralph: RalphContext, work: Work, turn: Turn, stateFiles: readonly string[]) {
  if (work.allow === undefined) return null;
  const paths = pathsOutside(turn.changedFiles.filter((path) => !stateFiles.includes(path)), work.allow);
  if (paths.length === 0) return null;
  const diff = await requireRepository(ralph).diff(topLevelPaths(ralph, paths), { base: turn.base });
  return { status: "trespassed" as const, paths, diff };
}
