import type { Attempt, CheckResult, Doubt, WorkDone } from "../../backlog/types.ts";
import { verdictOf } from "../../backlog/attempts.ts";
import { type Challenge, type GuardedChallenger, wrongImplementations } from "../../checks/challenge/challenger.ts";
import { unseenCheck } from "../../checks/challenge/unseen_check.ts";
import { commitOfTree, openCheckout } from "../../checks/checkout/open_checkout.ts";
import { namedCheck } from "../../checks/function.ts";
import { discardPaths } from "../../git/merge_change.ts";
import { requireRepository, rootPaths, topLevelPaths } from "../../git/repository.ts";
import type { AttemptParts } from "./attempt_parts.ts";
import { createTurnGuard } from "./turn_guard.ts";
import { keptRef } from "./uncommitted.ts";

const BY = "the challenger";

/**
 * Challenges the checks of an attempt that has just been verified (`verify.challenge`): first one check that its author
 * has not seen, which may fail the attempt once, then wrong implementations, which its checks have to catch.
 *
 * @throws {RalphError} git-failed, agent-unknown, option-invalid
 */
export async function challenged(parts: AttemptParts, start: WorkDone, attempt: Attempt): Promise<Attempt> {
  const { ralph, item, options, signal } = parts;
  const count = ralph.config.verify.challenge;
  const checks = parts.checks.map(namedCheck).filter((check) => check?.command !== undefined);
  const isWork = item.review !== true && item.checksOnly !== true && item.preparatory !== true &&
    item.exclusive !== true; // what stages and reviews have done is no implementation of their criteria
  const { since, changedFiles } = start;
  if (count === 0 || attempt.status !== "verified" || !isWork || checks.length === 0) return attempt;
  if (since === null || changedFiles.length === 0 || signal.aborted) return attempt;

  const title = `Challenge of ${item.id}: an unseen check, ${count} wrong implementation${count === 1 ? "" : "s"}`;
  ralph.events.emit({ type: "step-start", step: "challenge", title });
  await using checkout = await openCheckout(ralph, { signal });
  const challenge: Challenge = {
    ralph,
    item,
    brief: parts.brief,
    checkout,
    base: since,
    work: await commitOfTree(ralph),
    checks,
    folder: parts.folder,
    name: parts.logs.slice(parts.folder.length + 1),
    signal,
    budget: options.budget ?? null,
    guarded: (name, turn) => guardedTurn(parts, changedFiles, { name, turn }),
  };
  const unseen = await unseenCheck(challenge);
  const isKnown = options.unseenFailed === true; // it has failed an attempt, and is only named now
  const compared = unseen.results.filter(({ ok, usage }) => ok || usage !== undefined || !isKnown);
  if (compared.some(({ ok }) => !ok) || signal.aborted) return withResults(attempt, compared, signal);
  const wrong = await wrongImplementations(challenge, count);
  return judgedBy(ralph.config.trust, withResults(attempt, [...compared, ...wrong.results], signal), {
    survivors: wrong.survivors,
    tried: wrong.results.length,
    isUnseenRed: unseen.differs !== null,
    doubts: [unseen.differs === null ? null : `unverified: ${unseen.differs}`, unseen.missing, ...wrong.missing].filter(
      (text) => text !== null,
    ),
  });
}

/** The work is the turn's own, committed or not: it is restored whatever the challenger made of it. */
async function guardedTurn(
  { ralph, backlog: { stateFiles } }: AttemptParts,
  changedFiles: readonly string[],
  { name, turn }: { readonly name: string; readonly turn: Parameters<Challenge["guarded"]>[1] },
): Promise<GuardedChallenger> {
  const repository = requireRepository(ralph);
  const before = await repository.snapshot();
  const work = new Set(topLevelPaths(ralph, changedFiles));
  const isExact = (path: string): boolean => work.has(path);
  const userPaths = new Set(before.changed.map(({ path }) => path));
  const guard = createTurnGuard(ralph, { userPaths, stateFiles, by: BY, isExact });
  await guard.beforeTurn(name, before);
  const observed = await turn(before);
  const { turn: { changedFiles: left }, rewritten } = await guard.afterTurn(`${ralph.run.id}-${name}`, observed);
  const committed = topLevelPaths(ralph, left).filter((path) => isExact(path) && !before.contents.has(path));
  if (before.head !== null) await discardPaths(repository, committed, before.head);
  const back = new Set(rootPaths(ralph, committed));
  const lost = left.filter((path) => !back.has(path) && !stateFiles.includes(path));
  if (!topLevelPaths(ralph, lost).some((path) => before.contents.has(path))) {
    for (const end of ["", ".staged"]) await repository.git(["update-ref", "-d", `${keptRef(ralph, BY)}${end}`]);
  }
  return { turn: observed.turn, rewritten: rewritten !== null, left: lost };
}

/** The attempt with what the challenger's turns came to, as reviews report it. Pure. */
function withResults(attempt: Attempt, found: readonly CheckResult[], signal: AbortSignal): Attempt {
  const results = [...attempt.verification?.results ?? [], ...found];
  const failures = results.filter(({ ok }) => !ok);
  if (signal.aborted) return { ...attempt, verification: { status: "aborted", results }, status: "interrupted" };
  if (failures.length === 0) return { ...attempt, verification: { status: "passed", results } };
  const verification = { status: "failed", results, failures } as const;
  return { ...attempt, verification, ...verdictOf(verification, false) };
}

/**
 * A wrong implementation that no check catches marks the item; with `trust: "strict"` it is parked. Work that fails a
 * check which its author has not seen is not verified. Pure.
 */
function judgedBy(
  trust: "normal" | "strict",
  attempt: Attempt,
  { survivors, tried, isUnseenRed, doubts: others }: {
    readonly survivors: readonly string[];
    readonly tried: number;
    readonly isUnseenRed: boolean;
    readonly doubts: readonly string[];
  },
): Attempt {
  if (attempt.status !== "verified") return attempt;
  const message = `${survivors.length} of ${tried} wrong implementations passed its checks: ${survivors.join(", ")}`;
  const doubts: readonly Doubt[] = [
    ...(survivors.length === 0 ? [] : [{ kind: "weak-checks", message } as const]),
    ...(others.length === 0 ? [] : [{ kind: "challenge", message: others.join("; ") } as const]),
  ];
  const doubted = doubts.length === 0 ? attempt : { ...attempt, doubts: [...attempt.doubts ?? [], ...doubts] };
  if (survivors.length > 0 && trust === "strict") return { ...doubted, status: "blocked", message };
  return isUnseenRed ? { ...doubted, status: "unverified" } : doubted;
}
