/**
 * The usage of turns, added up. Unknown stays unknown: it is never counted as nothing.
 *
 * @module
 */
import type { EventUsageTotal } from "../generated/events.ts";
import type { Attempt, Usage } from "./types.ts";

/** A sum over turns. `null`: no turn reported it. */
export type UsageTotal = EventUsageTotal;

/** Nothing used yet. */
export const NO_USAGE: UsageTotal = {
  inputTokens: null,
  outputTokens: null,
  cachedTokens: null,
  reasoningTokens: null,
  costUsd: null,
  estimated: false,
  turns: 0,
  turnsWithoutTokens: 0,
  turnsWithoutCost: 0,
};

/** The usage of two tries at one turn; what only one of them reports is kept. Pure. */
export function addUsage(one: Usage, other: Usage): Usage {
  return {
    inputTokens: sum(one.inputTokens, other.inputTokens),
    outputTokens: sum(one.outputTokens, other.outputTokens),
    cachedTokens: sum(one.cachedTokens, other.cachedTokens),
    reasoningTokens: sum(one.reasoningTokens, other.reasoningTokens),
    costUsd: sum(one.costUsd, other.costUsd),
    estimated: one.estimated || other.estimated,
  };
}

/** The sum with one more turn. Pure. */
export function addTurn(total: UsageTotal, usage: Usage): UsageTotal {
  return {
    ...addUsage(total, usage),
    turns: total.turns + 1,
    turnsWithoutTokens: total.turnsWithoutTokens + (tokensOf(usage) === null ? 1 : 0),
    turnsWithoutCost: total.turnsWithoutCost + (usage.costUsd === null ? 1 : 0),
  };
}

/** The usage of an attempt's turn, and of each review of it. Pure. */
export function usagesOf({ turn, verification }: Pick<Attempt, "turn" | "verification">): readonly Usage[] {
  const reviews = (verification?.results ?? []).flatMap(({ usage }) => usage === undefined ? [] : [usage]);
  return turn === null ? reviews : [turn.usage, ...reviews];
}

/** The sum of them; `null` where nothing was asked of an agent. Pure. */
export function usageOf(attempt: Pick<Attempt, "turn" | "verification">): Usage | null {
  const [first, ...rest] = usagesOf(attempt);
  return first === undefined ? null : rest.reduce(addUsage, first);
}

/** Input and output together; `null` when neither is known. */
export function tokensOf({ inputTokens, outputTokens }: Pick<Usage, "inputTokens" | "outputTokens">): number | null {
  return sum(inputTokens, outputTokens);
}

function sum(one: number | null, other: number | null): number | null {
  return other === null ? one : (one ?? 0) + other;
}
