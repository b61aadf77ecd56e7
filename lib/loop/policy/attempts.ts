import { interruptedAttempt } from "../../backlog/attempts.ts";
import type { Attempt, Backlog, FailureReason, Item, WorkDone } from "../../backlog/types.ts";
import type { RalphContext } from "../../context/context.ts";
import { rootPaths, type TreeSnapshot } from "../../git/repository.ts";

/** Attempts that an item still has after this one. Pure. */
export function attemptsLeft(
  { policy: { retries } = {} }: Pick<Backlog, "policy">,
  item: Item,
  attempt: Attempt,
  maxRetries: number,
): number {
  const given = typeof retries === "function" ? retries(attempt, item) : retries ?? maxRetries;
  return Math.max(0, given - attempt.number);
}

/**
 * The attempt with what the loop's limits make of it: the last one parks the item, and so does the same failure several
 * times in a row. Pure.
 */
export function withRetries(
  attempt: Attempt,
  history: readonly Attempt[],
  { left, sameFailure }: { readonly left: number; readonly sameFailure: number },
): Attempt {
  if (attempt.status !== "failed" && attempt.status !== "not-done") return attempt;
  const times = sameFailures(attempt, history);
  if (times >= sameFailure) {
    const { reason: _, ...same } = { reason: null, ...attempt };
    return { ...same, status: "blocked", message: `failed the same way ${times} times: ${attempt.message}` };
  }
  return left === 0 ? { ...attempt, last: true } : attempt;
}

/** The attempt that the next prompt reports: the last one, the final check that sent the item back, or one without an end. Pure. */
export function previousOf(
  id: string,
  { history, sentBack, left }: {
    readonly history: readonly Attempt[];
    readonly sentBack: { readonly reason: string } | null;
    /** The paths that attempts at the item have left uncommitted. */
    readonly left: Readonly<Record<string, unknown>>;
  },
): Attempt | null {
  const last = history.at(-1);
  if (last !== undefined) return last;
  if (sentBack !== null) {
    return noTurn(`${id}.final`, "checks-failed", `it had passed, and fails in the final check:\n${sentBack.reason}`);
  }
  if (Object.keys(left).length === 0) return null;
  return interruptedAttempt({ id: `${id}.left`, number: 0 });
}

function noTurn(id: string, reason: FailureReason, message: string): Attempt<never> {
  return { ...interruptedAttempt({ id, number: 0 }), status: "failed", reason, message };
}

/** The attempt that the next prompt reports where the item's work so far conflicts with what was merged since. Pure. */
export function previousWith(id: string, previous: Attempt | null, conflicts: readonly string[]): Attempt | null {
  if (conflicts.length === 0 || (previous !== null && previous.status !== "interrupted")) return previous;
  const message = `the work at it so far conflicts with what was merged since: ${[...new Set(conflicts)].join(", ")}`;
  return noTurn(`${id}.conflict`, "conflict", message);
}

/** How often in a row, this attempt included, the item has failed with the same message. Pure. */
export function sameFailures(attempt: Attempt, history: readonly Attempt[]): number {
  const message = failureMessage(attempt);
  if (message === null) return 0;
  const other = history.findLastIndex((earlier) => failureMessage(earlier) !== message);
  return history.length - other;
}

/** Numbers change from run to run (times, addresses, line counts of logs): they do not make a failure another one. */
function failureMessage(attempt: Attempt): string | null {
  if (attempt.status !== "failed" && attempt.status !== "not-done") return null;
  return attempt.message.replaceAll(/\d+/g, "0");
}

/** How the tree was before the first attempt at an item. `left`: what attempts at it have left, in earlier runs as well. */
export function itemStart(
  ralph: Pick<RalphContext, "repository" | "root">,
  history: readonly Attempt[],
  before: TreeSnapshot,
  left: Readonly<Record<string, unknown>>,
): WorkDone {
  const turns = history.flatMap(({ turn }) => turn === null ? [] : [turn]);
  const [first] = turns;
  const changed = [...rootPaths(ralph, Object.keys(left)), ...turns.flatMap(({ changedFiles }) => changedFiles)];
  return { since: first === undefined ? before.head : first.base, changedFiles: [...new Set(changed)] };
}
