import type { Attempt, Item, Settlement, TimeBudget } from "../../backlog/types.ts";
import type { BranchWork } from "../../git/branch_work.ts";
import { addTurn, NO_USAGE, tokensOf, usagesOf, type UsageTotal } from "../../backlog/usage.ts";
import type { LimitsConfig } from "../../config/load.ts";
import type { RalphContext } from "../../context/context.ts";
import { optionInvalid } from "../../errors/ralph_error.ts";

/** Something about a run that its verdict does not say: in the last lines, the report and `--json`. */
export interface Notice {
  /** The subject, from a closed list. */
  readonly kind:
    | "green-before"
    | "no-own-check"
    | "old-tests"
    | "cannot-fail"
    | "weak-checks"
    | "challenge"
    | "not-claimed"
    | "sent-back"
    | "unsteady"
    | "not-tried"
    | "restored"
    | "not-reproducible"
    | "not-committed"
    | "not-checked-as-commit"
    | "workspace"
    | "leftover"
    | "lost"
    | "too-large"
    | "not-run"
    | "environment";
  /** Item, file or command. */
  readonly subject: string;
  /** The news about it, in words; may be empty. */
  readonly message: string;
}

/** Green checks without the agent's claim: what is missing, and how to do without it. */
export const NOT_CLAIMED: string =
  "the agent did not say that it was done: let it print the closing line that its prompt asks for, or set " +
  '`provider.claims` to `"optional"`, so that green checks are enough';

/** How far a run has come. Plain JSON. */
export interface Progress {
  /** Attempts made, those without an agent's turn included. */
  readonly iterations: number;
  /** Agent turns taken. */
  readonly turns: number;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  /** Sums; `null` when no turn reported any. */
  readonly tokens: number | null;
  /** US dollars so far; `null` when no turn reported any. */
  readonly costUsd: number | null;
  /** All of what the turns used, with how many of them reported nothing. */
  readonly usage: UsageTotal;
  /** The same for each item, by its id. */
  readonly usageByItem: Readonly<Record<string, UsageTotal>>;
  /** Ids of items that passed and were not sent back, in order. */
  readonly passed: readonly string[];
  /** Passed items, of this run or before, that no check has seen, or no agent has claimed. */
  readonly unverified: readonly string[];
  /** Items given up on in this run. */
  readonly parked: readonly { readonly id: string; readonly reason: string }[];
  /** Turns in a row that changed no file and passed nothing. */
  readonly idleTurns: number;
  /** Turns in a row after which nothing passed for the first time. */
  readonly stalledTurns: number;
  /** Ids that have passed at some time in this run. */
  readonly everPassed: readonly string[];
  /** Commands of shared checks that failed before the first turn (`verify.baseline`). */
  readonly failedBefore: readonly string[];
  /** The notices that the last lines name beside the verdict. */
  readonly notices: readonly Notice[];
  /** At the end of a run: what a person asked for, where the backlog knows. */
  readonly goal?: string;
  /** At the end of a run: what the branch holds. */
  readonly work?: BranchWork;
}

/** A run that has not begun. */
export function newProgress(startedAt: number): Progress {
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
    stalledTurns: 0,
    everPassed: [],
    failedBefore: [],
    notices: [],
  };
}

/** Items that may pass for the first time: those of the start, and so many more. */
export interface FirstPasses {
  /** Items at the start of the run; 0 for a free loop. */
  readonly atStart: number;
  /** Items that turns may add, as `limits.added`. */
  readonly added: number;
}

/** Progress after an attempt was settled. Pure. */
export function advance(
  progress: Progress,
  item: Item,
  attempt: Attempt,
  settlement: Settlement,
  { atStart, added }: FirstPasses = { atStart: 0, added: Infinity },
): Progress {
  const { turn } = attempt;
  const { reopened = [] } = settlement;
  const hasPassed = settlement.status === "passed" && item.checksOnly !== true;
  const moved = settlement.idle !== true && ((turn?.changedFiles.length ?? 0) > 0 || hasPassed);
  const isFirst = hasPassed && settlement.idle !== true && !progress.everPassed.includes(item.id) &&
    progress.everPassed.length < atStart + added;
  const isResult = hasPassed && item.preparatory !== true;
  const gone = new Set([item.id, ...reopened]);
  const kept = (ids: readonly string[]): readonly string[] => ids.filter((id) => !gone.has(id));
  const used = usagesOf(attempt);
  const usage = used.reduce(addTurn, progress.usage);
  const counted = turn === null ? 0 : 1;
  const notices = [...attempt.doubts ?? [], ...stowedNotices(settlement)];
  const others: Progress = {
    ...progress,
    notices: progress.notices.filter(({ kind, subject }) => kind !== "not-claimed" || subject !== item.id),
  };
  return {
    ...notices.reduce((one, notice) => withNotice(one, { ...notice, subject: item.id }), others),
    iterations: progress.iterations + (item.checksOnly === true ? 0 : 1),
    turns: progress.turns + (turn === null || turn.end.reason === "rate-limited" ? 0 : 1),
    tokens: tokensOf(usage),
    costUsd: usage.costUsd,
    usage,
    usageByItem: used.length === 0 ? progress.usageByItem : {
      ...progress.usageByItem,
      [item.id]: used.reduce(addTurn, progress.usageByItem[item.id] ?? NO_USAGE),
    },
    idleTurns: moved ? 0 : progress.idleTurns + counted,
    stalledTurns: isFirst ? 0 : progress.stalledTurns + counted,
    everPassed: isFirst ? [...progress.everPassed, item.id] : progress.everPassed,
    passed: isResult ? [...kept(progress.passed), item.id] : kept(progress.passed),
    unverified: isResult && attempt.status === "unverified"
      ? [...kept(progress.unverified), item.id]
      : kept(progress.unverified),
    parked: settlement.status === "parked"
      ? [...progress.parked.filter(({ id }) => id !== item.id), { id: item.id, reason: settlement.reason }]
      : progress.parked,
  };
}

function stowedNotices({ stowed }: Settlement): readonly Omit<Notice, "subject">[] {
  if (stowed === undefined) return [];
  return [{ kind: "leftover", message: `what its turns left; \`git diff HEAD...${stowed}\` shows it` }];
}

/** Progress with one more notice; one of the same kind and subject is replaced. Pure. */
export function withNotice(progress: Progress, notice: Notice): Progress {
  const others = progress.notices.filter(({ kind, subject }) => kind !== notice.kind || subject !== notice.subject);
  return { ...progress, notices: [...others, notice] };
}

/** Progress after the final check sent items back. Pure. */
export function withoutPassed(progress: Progress, ids: readonly string[]): Progress {
  const kept = (all: readonly string[]): readonly string[] => all.filter((id) => !ids.includes(id));
  return { ...progress, passed: kept(progress.passed), unverified: kept(progress.unverified) };
}

/** How often the final check may send an item back in one run. */
export const MOST_REOPENINGS = 2;

/**
 * The configuration's limits with the options' laid over them. Turns in a row are counted over all workers: each of them
 * may have as many as one has alone.
 */
export function limitsOf(
  ralph: Pick<RalphContext, "config">,
  options: { readonly limits?: Partial<LimitsConfig>; readonly maxIterations?: number },
  workers = 1,
): LimitsConfig {
  const given = { ...ralph.config.limits, ...options.limits };
  refuseUnfitLimits({ ...options.limits, maxIterations: options.maxIterations ?? null }, ralph.config.limits);
  const limits = { ...given, idle: given.idle * workers, stalled: given.stalled * workers };
  const { maxIterations } = options;
  if (maxIterations === undefined) return limits;
  return { ...limits, iterations: Math.min(maxIterations, limits.iterations ?? maxIterations) };
}

/** JavaScript passes anything: a limit that is none would end nothing. @throws {RalphError} option-invalid */
function refuseUnfitLimits(given: Readonly<Record<string, unknown>>, known: LimitsConfig): void {
  for (const [name, value] of Object.entries(given)) {
    const isNumber = typeof value === "number" && value >= 0;
    const isOption = name === "maxIterations";
    if ((Object.hasOwn(known, name) || isOption) && (isNumber || value === null || value === undefined)) continue;
    const names = Object.keys(known).join(", ");
    throw optionInvalid(
      isOption ? name : `limits.${name}`,
      "a number from 0 or `null`",
      String(value),
      `the limits are ${names}`,
    );
  }
}

/** Between two iterations, where a person asked for it. @returns false for no */
export async function askToContinue(
  { loop, prompter }: Pick<RalphContext, "loop" | "prompter">,
  options: { readonly interactive?: boolean },
): Promise<boolean> {
  if (!(options.interactive ?? loop.interactive)) return true;
  const message = "Continue with the next iteration?";
  return (await prompter.ask({ id: "loop.continue", kind: "confirm", message, initial: true })).value === "yes";
}

/** Before a turn: waits while a person has paused the run. @returns why there is no turn */
export async function rest(
  { steering }: Pick<RalphContext, "steering">,
  signal: AbortSignal,
): Promise<{ readonly status: "declined" | "aborted" } | null> {
  const continues = await steering.rest(signal);
  if (signal.aborted) return { status: "aborted" };
  return continues ? null : { status: "declined" };
}

/** Milliseconds since 1970 by a clock that nobody sets and that stops while the run is paused: what `limits.minutes` goes by. */
export function workingTime({ host, steering }: Pick<RalphContext, "host" | "steering">): number {
  return host.clock.steady() - steering.pausedMs();
}

/**
 * The limit that is reached, as the last lines name it, or `null`. Pure.
 *
 * @param now as `workingTime()` has it
 * @param inFlight turns that have begun and not ended
 */
export function limitReached(progress: Progress, limits: LimitsConfig, now: number, inFlight = 0): string | null {
  const { iterations, tokens, costUsd } = limits;
  if (iterations !== null && progress.turns + inFlight >= iterations) return plural(iterations, "iteration");
  const time = timeReached(progress, limits, now);
  if (time !== null) return time;
  if (tokens !== null && progress.tokens !== null && progress.tokens >= tokens) {
    return `${progress.tokens} of ${tokens} tokens${unreported(progress.usage.turnsWithoutTokens)}`;
  }
  if (costUsd !== null && progress.costUsd !== null && progress.costUsd >= costUsd) {
    const about = progress.usage.estimated ? "about " : "";
    return `${about}${progress.costUsd.toFixed(2)} of ${costUsd} USD${unreported(progress.usage.turnsWithoutCost)}`;
  }
  if (progress.idleTurns >= limits.idle) return `${plural(limits.idle, "turn")} without a change`;
  if (progress.stalledTurns >= limits.stalled) return `${plural(limits.stalled, "turn")} without a new pass`;
  return null;
}

/** Tells whether the turns in flight may reach a budget, going by what the run's turns have used so far. Pure. */
export function costSoon({ usage, tokens, costUsd }: Progress, limits: LimitsConfig, inFlight: number): boolean {
  const reaches = (used: number | null, limit: number | null): boolean =>
    used !== null && limit !== null && usage.turns > 0 && used + inFlight * used / usage.turns >= limit;
  return reaches(tokens, limits.tokens) || reaches(costUsd, limits.costUsd);
}

/** The run's time, where it is up: nothing starts any more, the final check included. Pure. */
export function timeReached({ startedAt }: Progress, { minutes }: LimitsConfig, now: number): string | null {
  return minutes !== null && now - startedAt >= minutes * 60_000 ? plural(minutes, "minute") : null;
}

/** When the run's time is up, or `null`: it has all the time. Pure. @param pausedMs so far */
export function timeBudget({ startedAt }: Progress, { minutes }: LimitsConfig, pausedMs: number): TimeBudget | null {
  return minutes === null
    ? null
    : { endsAt: startedAt + pausedMs + minutes * 60_000, words: plural(minutes, "minute") };
}

/** Why a budget that is set cannot be kept, or `null`: an agent that reports nothing has not used nothing. Pure. */
export function unreportedBudget({ usage }: Progress, limits: LimitsConfig): string | null {
  const kinds = [
    [limits.tokens, usage.turnsWithoutTokens, "how many tokens it used", "limits.tokens"],
    [limits.costUsd, usage.turnsWithoutCost, "what it cost", "limits.costUsd"],
  ] as const;
  const open = kinds.filter(([limit, without]) => limit !== null && usage.turns > 0 && without === usage.turns);
  return open.length === 0
    ? null
    : open.map(([, , said, limit]) => `no turn has reported ${said}: ${limit} cannot be kept`).join("; ");
}

function unreported(turns: number): string {
  return turns === 0 ? "" : `, and what ${plural(turns, "turn")} did not report`;
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
