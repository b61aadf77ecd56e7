import type { LimitsConfig } from "../config/schema.ts";
import type { Attempt, Item, Settlement } from "../backlog/types.ts";
import { addTurn, NO_USAGE, tokensOf, usagesOf, type UsageTotal } from "../backlog/usage.ts";

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
  /** US dollars so far; `null`: no turn told. */
  readonly costUsd: number | null;
  /** All of what the turns used, with how many of them did not tell. */
  readonly usage: UsageTotal;
  /** The same for each item, by its id. */
  readonly usageByItem: Readonly<Record<string, UsageTotal>>;
  /** Ids of items that passed, in order. */
  readonly passed: readonly string[];
  /** Of the passed, those that no check has seen. */
  readonly unverified: readonly string[];
  /** Items given up on in this run. */
  readonly parked: readonly { readonly id: string; readonly reason: string }[];
  /** Turns in a row that changed nothing, passed nothing and gave nothing up. */
  readonly idleTurns: number;
  /** Items whose last attempt left tests weakened, and how. */
  readonly weakened: readonly { readonly id: string; readonly findings: readonly string[] }[];
  /** Commands of shared checks that failed before the first turn (`verify.baseline`). */
  readonly failedBefore: readonly string[];
  /** Files that judge the run and that it found changed: restored, or outside of the repository. Absent: none. */
  readonly restored?: readonly string[];
}

/** A run that has not begun. */
export function noProgress(startedAt: number): Progress {
  return {
    iterations: 0,
    turns: 0,
    startedAt,
    tokens: null,
    costUsd: null,
    usage: NO_USAGE,
    usageByItem: {},
    passed: [],
    unverified: [],
    parked: [],
    idleTurns: 0,
    weakened: [],
    failedBefore: [],
  };
}

/** Progress after an attempt was settled. Pure. */
export function advance(progress: Progress, item: Item, attempt: Attempt, settlement: Settlement): Progress {
  const { turn } = attempt;
  const ended = settlement.status === "passed" || settlement.status === "parked";
  const moved = settlement.idle !== true &&
    ((turn?.changedFiles.length ?? 0) > 0 || (ended && item.checksOnly !== true));
  const without = <Entry>(entries: readonly Entry[], idOf: (entry: Entry) => string): readonly Entry[] =>
    entries.filter((entry) => idOf(entry) !== item.id);
  const passed = settlement.status === "passed" && item.checksOnly !== true && item.preparatory !== true;
  const used = usagesOf(attempt);
  const ofItem = progress.usageByItem[item.id] ?? NO_USAGE;
  const findings = attempt.weakened ?? [];
  return {
    ...progress,
    iterations: progress.iterations + 1,
    turns: progress.turns + (turn === null || turn.end.reason === "rate-limited" ? 0 : 1),
    tokens: used.reduce((sum, usage) => add(sum, tokensOf(usage)), progress.tokens),
    costUsd: used.reduce((sum, usage) => add(sum, usage.costUsd), progress.costUsd),
    usage: used.reduce(addTurn, progress.usage),
    usageByItem: used.length === 0
      ? progress.usageByItem
      : { ...progress.usageByItem, [item.id]: used.reduce(addTurn, ofItem) },
    idleTurns: moved ? 0 : progress.idleTurns + (turn === null ? 0 : 1),
    passed: passed ? [...without(progress.passed, String), item.id] : progress.passed,
    unverified: passed && attempt.status === "unverified"
      ? [...without(progress.unverified, String), item.id]
      : progress.unverified,
    parked: settlement.status === "parked"
      ? [...without(progress.parked, ({ id }) => id), { id: item.id, reason: settlement.reason }]
      : progress.parked,
    weakened: turn === null || attempt.status === "interrupted"
      ? progress.weakened
      : [...without(progress.weakened, ({ id }) => id), ...(findings.length === 0 ? [] : [{ id: item.id, findings }])],
  };
}

/** The limit that is reached, in words, or `null`. Pure. */
export function limitReached(progress: Progress, limits: LimitsConfig, now: number): string | null {
  const { iterations, minutes, tokens, costUsd } = limits;
  if (iterations !== null && progress.turns >= iterations) return plural(iterations, "iteration");
  if (minutes !== null && now - progress.startedAt >= minutes * 60_000) return plural(minutes, "minute");
  if (tokens !== null && progress.tokens !== null && progress.tokens >= tokens) {
    return `${progress.tokens} of ${tokens} tokens${untold(progress.usage.turnsWithoutTokens)}`;
  }
  if (costUsd !== null && progress.costUsd !== null && progress.costUsd >= costUsd) {
    const about = progress.usage.estimated ? "about " : "";
    return `${about}${progress.costUsd.toFixed(2)} of ${costUsd} USD${untold(progress.usage.turnsWithoutCost)}`;
  }
  if (progress.idleTurns >= limits.noProgress) return `${plural(limits.noProgress, "turn")} without a change`;
  return null;
}

/** When a run's time is up. */
export interface TimeBudget {
  /** Milliseconds since 1970. */
  readonly endsAt: number;
  /** The limit in words: `30 minutes`. */
  readonly words: string;
}

/** When the run's time is up, or `null`: it has all the time. Pure. */
export function timeBudget({ startedAt }: Progress, { minutes }: LimitsConfig): TimeBudget | null {
  return minutes === null ? null : { endsAt: startedAt + minutes * 60_000, words: plural(minutes, "minute") };
}

/** Why a budget that is set cannot be kept, or `null`: an agent that tells nothing has not used nothing. Pure. */
export function untoldBudget({ usage }: Progress, limits: LimitsConfig): string | null {
  if (usage.turns === 0) return null;
  if (limits.tokens !== null && usage.turnsWithoutTokens === usage.turns) {
    return "the agent does not tell how many tokens it uses: limits.tokens cannot be kept";
  }
  if (limits.costUsd !== null && usage.turnsWithoutCost === usage.turns) {
    return "the agent does not tell what it costs: limits.costUsd cannot be kept";
  }
  return null;
}

function untold(turns: number): string {
  return turns === 0 ? "" : `, and what ${plural(turns, "turn")} did not tell`;
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

function add(sum: number | null, more: number | null): number | null {
  return more === null ? sum : (sum ?? 0) + more;
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
