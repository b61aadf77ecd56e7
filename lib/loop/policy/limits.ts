import type { LimitsConfig } from "../../config/types.ts";
import type { RalphContext } from "../../context/context.ts";
import type { TimeBudget } from "../../backlog/types.ts";
import type { Progress } from "./progress.ts";

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
  const limits = { ...given, idle: given.idle * workers, stalled: given.stalled * workers };
  const { maxIterations } = options;
  if (maxIterations === undefined) return limits;
  return { ...limits, iterations: Math.min(maxIterations, limits.iterations ?? maxIterations) };
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
  if (usage.turns === 0) return null;
  if (limits.tokens !== null && usage.turnsWithoutTokens === usage.turns) {
    return "the agent does not report how many tokens it uses: limits.tokens cannot be kept";
  }
  if (limits.costUsd !== null && usage.turnsWithoutCost === usage.turns) {
    return "the agent does not report what it costs: limits.costUsd cannot be kept";
  }
  return null;
}

function unreported(turns: number): string {
  return turns === 0 ? "" : `, and what ${plural(turns, "turn")} did not report`;
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
