import { localTime } from "../host/local_date.ts";
import { silentTurn } from "./turn_end.ts";
import { type Agent, note, type RalphContext, type RateLimits } from "../context/context.ts";
import type { TimeBudget } from "../backlog/turn_types.ts";
import { nextLimit, waitUntil } from "./rate_limits.ts";
import type { AgentTurn, TurnEnd } from "../backlog/types.ts";
import { addUsage } from "../backlog/usage.ts";

/** One turn that may take several tries. */
export interface PatientTurnOptions {
  readonly signal: AbortSignal;
  /** When the run's time is up, where it has a limit: nothing is waited for beyond it, and a turn ends there. */
  readonly budget: TimeBudget | null;
  /** Milliseconds that a turn may take. */
  readonly timeoutMs: number;
  /** Gives the prompt to this agent once. `number` counts from 1. */
  readonly run: (agent: Agent, number: number, timeoutMs: number) => Promise<AgentTurn>;
}

/** How long a provider that failed is left alone, by how often it has failed in a row; after the last it is given up. */
const PROVIDER_WAITS_MS: readonly number[] = [15_000, 60_000, 240_000];

/**
 * A turn that waits: for the end of a rate limit, which may be hours away and outlives a restart, and for a provider
 * that fails. Neither is an attempt. While the agent is at its limit, the fallback takes over, where there is one.
 *
 * @returns the last turn, with the usage of all of them; `rate-limited` where it would have to wait for too long
 */
export async function patientTurn(
  ralph: RalphContext,
  { signal, budget: given, timeoutMs, run }: PatientTurnOptions,
): Promise<AgentTurn> {
  const pausedBefore = ralph.steering.pausedMs();
  const limits = await ralph.run.rateLimits();
  const waiting = AbortSignal.any([signal, ralph.steering.stopping]);
  let failures = 0;
  let last: AgentTurn | null = null;
  let fallback = ralph.fallback ?? null;
  for (let number = 1;; number += 1) {
    if (!await ralph.steering.rest(signal)) return ended(last, { reason: "aborted" });
    const paused = ralph.steering.pausedMs() - pausedBefore;
    const budget = given === null ? null : { ...given, endsAt: given.endsAt + paused };
    const ready = await readyAgent(ralph, limits, { signal: waiting, budget, fallback, isFirst: last === null });
    if ("reason" in ready) return ended(last, ready);
    const { agent, name } = ready;
    // The machine may have slept for longer than was waited for.
    if (last !== null && isOver(budget, ralph.host.clock.steady())) return ended(last, outOfTime(budget, last.end));
    const taken = await run(agent, number, Math.min(timeoutMs, timeLeft(ralph, budget)));
    const turn: AgentTurn = last === null
      ? taken
      : { ...taken, usage: addUsage(last.usage, taken.usage), durationMs: taken.durationMs + last.durationMs };
    last = turn;
    const { end } = turn;
    if (end.reason === "rate-limited") {
      const limit = nextLimit(limits.get(name), end, ralph.host.clock.now());
      if (ralph.config.limits.maxWait === 0 && (fallback === null || agent === fallback)) return turn;
      await limits.set(name, limit);
      continue;
    }
    await limits.clear(name);
    if (end.reason === "timed-out" && isOver(budget, ralph.host.clock.steady())) {
      return ended(turn, {
        reason: "rate-limited",
        untilMs: null,
        message: "the agent was still at work",
        budget: budget.words,
      });
    }
    if (end.reason === "agent-unusable" && agent === fallback) {
      note(ralph, "warn", `the fallback cannot be used, ${ralph.agent.name} is waited for: ${end.message}`);
      fallback = null;
      continue;
    }
    if (end.reason !== "unavailable") return turn;
    const waitMs = PROVIDER_WAITS_MS[failures];
    if (waitMs === undefined) return turn;
    failures += 1;
    const untilMs = ralph.host.clock.now() + waitMs;
    if (isOver(budget, untilMs)) return ended(turn, outOfTime(budget, end));
    if (
      !await waitUntil(ralph, { agent: name, reason: "unavailable", untilMs, message: end.message, signal: waiting })
    ) {
      return ended(turn, { reason: "aborted" });
    }
  }
}

/** The agent whose turn it is, and the name that its limit is kept under. */
interface Ready {
  readonly agent: Agent;
  readonly name: string;
}

interface Readying extends Pick<PatientTurnOptions, "signal" | "budget"> {
  readonly fallback: Agent | null;
  /** No turn was taken yet. */
  readonly isFirst: boolean;
}

/** The agent, or the fallback, whichever has no limit; else the first to be free again is waited for. */
async function readyAgent(
  ralph: RalphContext,
  limits: RateLimits,
  { signal, budget, fallback, isFirst }: Readying,
): Promise<Ready | TurnEnd> {
  const { clock } = ralph.host;
  if (signal.aborted) return { reason: "aborted" };
  // A person who says that nothing is to be waited for wants to see what the agent says now.
  const first: Ready = { agent: ralph.agent, name: ralph.agent.name };
  if (ralph.config.limits.maxWait === 0 && isFirst) return first;
  // The fallback may be the same program with another model: its limit is another one.
  const other = fallback?.name === first.name ? `${first.name} (fallback)` : fallback?.name ?? "";
  const agents: readonly Ready[] = fallback === null ? [first] : [first, { agent: fallback, name: other }];
  const limited = agents.map((ready) => ({ ...ready, limit: limits.get(ready.name) }));
  const free = limited.find(({ limit }) => limit === null || limit.untilMs <= clock.now());
  if (free !== undefined) {
    if (free.agent !== ralph.agent) {
      note(ralph, "info", `${free.name} takes over while ${first.name} waits for its limit`);
    }
    return free;
  }
  const next = limited.map((ready) => ({ ...ready, limit: ready.limit! })).toSorted((one, two) =>
    one.limit.untilMs - two.limit.untilMs
  )[0]!;
  const { name, limit } = next;
  const { maxWait } = ralph.config.limits;
  if (limit.untilMs - limit.sinceMs > maxWait * 1000) {
    // A person who starts Ralph again means it: there is nothing left to wait for.
    await limits.clear(name);
    const tooLong = `waiting until ${localTime(limit.untilMs)} is longer than limits.maxWait (${maxWait} s)`;
    return { reason: "rate-limited", untilMs: limit.untilMs, message: `${name}: ${open(limit.message)}; ${tooLong}` };
  }
  if (isOver(budget, limit.untilMs)) {
    return outOfTime(budget, { message: `${name}: ${limit.message}`, untilMs: limit.untilMs });
  }
  const waiting = { ...limit, agent: name, reason: "rate-limit", signal } as const;
  const waited = await limits.wait(name, () => waitUntil(ralph, waiting));
  return waited ? next : { reason: "aborted" };
}

/** A turn that begins has a moment at least: it was looked at before whether the time is up. */
function timeLeft({ host }: RalphContext, budget: TimeBudget | null): number {
  return budget === null ? Infinity : Math.max(budget.endsAt - host.clock.steady(), 1);
}

function isOver(budget: TimeBudget | null, atMs: number): budget is TimeBudget {
  return budget !== null && atMs >= budget.endsAt;
}

/** The run's time ends before the wait does. The limit stays known: the next start waits for it. */
function outOfTime(
  { words }: TimeBudget,
  end: TurnEnd | { readonly untilMs: number; readonly message: string },
): TurnEnd {
  const untilMs = "untilMs" in end ? end.untilMs : null;
  const message = "message" in end ? end.message : "its time was up while it waited";
  const until = untilMs === null ? "" : `; waiting until ${localTime(untilMs)} takes longer than that`;
  return { reason: "rate-limited", untilMs, message: `${open(message)}${until}`, budget: words };
}

/** A sentence that continues. */
function open(sentence: string): string {
  return sentence.replace(/\.$/, "");
}

/** A turn that ended without the agent being asked again, or at all. */
function ended(last: AgentTurn | null, end: TurnEnd): AgentTurn {
  return last === null ? silentTurn(end) : { ...last, end };
}
