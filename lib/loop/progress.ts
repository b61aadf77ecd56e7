import type { LimitsConfig } from "../config/schema.ts";
import type { Attempt, Item, Settlement, Usage } from "./types.ts";

/** How far a run has come. Plain JSON. */
export interface Progress {
  /** Attempts made, those without an agent's turn included. */
  readonly iterations: number;
  /** Agent turns taken. */
  readonly turns: number;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  /** Sums; `null` when no turn told. */
  readonly tokens: number | null;
  readonly costUsd: number | null;
  readonly passed: readonly string[];
  /** Of the passed, those that no check has seen. */
  readonly unverified: readonly string[];
  readonly parked: readonly { readonly id: string; readonly reason: string }[];
  /** Turns in a row that changed nothing, passed nothing and gave nothing up. */
  readonly idleTurns: number;
}

/** A run that has not begun. */
export function noProgress(startedAt: number): Progress {
  return {
    iterations: 0,
    turns: 0,
    startedAt,
    tokens: null,
    costUsd: null,
    passed: [],
    unverified: [],
    parked: [],
    idleTurns: 0,
  };
}

/** Progress after an attempt was settled. Pure. */
export function advance(progress: Progress, item: Item, attempt: Attempt, settlement: Settlement): Progress {
  const { turn } = attempt;
  const ended = settlement.status === "passed" || settlement.status === "parked";
  const moved = turn === null || turn.changedFiles.length > 0 || ended;
  const without = <Entry>(entries: readonly Entry[], idOf: (entry: Entry) => string): readonly Entry[] =>
    entries.filter((entry) => idOf(entry) !== item.id);
  const passed = settlement.status === "passed" && item.checksOnly !== true && item.preparatory !== true;
  return {
    ...progress,
    iterations: progress.iterations + 1,
    turns: progress.turns + (turn === null ? 0 : 1),
    tokens: add(progress.tokens, tokensOf(turn?.usage)),
    costUsd: add(progress.costUsd, turn?.usage.costUsd ?? null),
    idleTurns: moved ? 0 : progress.idleTurns + 1,
    passed: passed ? [...without(progress.passed, String), item.id] : progress.passed,
    unverified: passed && attempt.status === "unverified"
      ? [...without(progress.unverified, String), item.id]
      : progress.unverified,
    parked: settlement.status === "parked"
      ? [...without(progress.parked, ({ id }) => id), { id: item.id, reason: settlement.reason }]
      : progress.parked,
  };
}

/** The limit that is reached, in words, or `null`. Pure. */
export function limitReached(progress: Progress, limits: LimitsConfig, now: number): string | null {
  const { iterations, minutes, tokens, costUsd } = limits;
  if (iterations !== null && progress.turns >= iterations) return plural(iterations, "iteration");
  if (minutes !== null && now - progress.startedAt >= minutes * 60_000) return plural(minutes, "minute");
  if (tokens !== null && progress.tokens !== null && progress.tokens >= tokens) {
    return `${progress.tokens} of ${tokens} tokens`;
  }
  if (costUsd !== null && progress.costUsd !== null && progress.costUsd >= costUsd) {
    return `${progress.costUsd.toFixed(2)} of ${costUsd} USD`;
  }
  if (progress.idleTurns >= limits.noProgress) return `${plural(limits.noProgress, "turn")} without a change`;
  return null;
}

/** How often in a row, this attempt included, the item has failed with the same words. Pure. */
export function sameFailures(attempt: Attempt, history: readonly Attempt[]): number {
  const words = failureWords(attempt);
  if (words === null) return 0;
  let count = 1;
  for (const earlier of history.toReversed()) {
    if (failureWords(earlier) !== words) break;
    count++;
  }
  return count;
}

/** Numbers change from run to run (times, addresses, line counts of logs): they do not make a failure another one. */
function failureWords(attempt: Attempt): string | null {
  if (attempt.status !== "failed" && attempt.status !== "not-done") return null;
  return attempt.message.replaceAll(/\d+/g, "0");
}

function tokensOf(usage: Usage | undefined): number | null {
  if (usage === undefined) return null;
  return add(usage.inputTokens, usage.outputTokens);
}

function add(sum: number | null, more: number | null): number | null {
  return more === null ? sum : (sum ?? 0) + more;
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
