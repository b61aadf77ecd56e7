/**
 * Which agents have reached a limit, and until when: kept in a file, so that a run that is started again continues waiting.
 *
 * @module
 */
import { jsonIn } from "../host/data.ts";
import { readText, removePath, writeOwn } from "../host/files.ts";
import { at, numberAt } from "./json.ts";
import type { RalphContext, RateLimit, RateLimits } from "../context/context.ts";

/** A machine may sleep meanwhile: the clock is looked at this often, and it is what counts. */
const SLICE_MS = 60_000;

/** The time left is reported this often while it is long, then with each slice. */
const REPORTED_EVERY_MS = 600_000;

const MINUTE = 60_000;
/** Ralph asks an agent that names no time again after this long, by round. */
const UNKNOWN_WAITS_MS: readonly number[] = [1, 2, 5, 10, 15, 30, 60].map((minutes) => minutes * MINUTE);
/** Ralph does not believe an agent at once that named a time and has reached its limit again. */
const LEAST_WAITS_MS: readonly number[] = [0, 0.5, 1, 2, 5, 10, 15, 30, 60].map((minutes) => minutes * MINUTE);
/** A limit reported again within this time of its end is still the same one. */
const SAME_LIMIT_MS = 10 * MINUTE;

/** The limit after an agent has reported one. Pure. */
export function nextLimit(
  known: RateLimit | null,
  reported: { readonly untilMs: number | null; readonly message: string },
  now: number,
): RateLimit {
  const same = known !== null && now - known.untilMs < SAME_LIMIT_MS;
  const rounds = same ? known.rounds + 1 : 1;
  const sinceMs = same ? known.sinceMs : now;
  const least = LEAST_WAITS_MS[Math.min(rounds, LEAST_WAITS_MS.length) - 1]!;
  const untilMs = reported.untilMs === null
    ? now + UNKNOWN_WAITS_MS[Math.min(rounds, UNKNOWN_WAITS_MS.length) - 1]!
    : Math.max(withMargin(reported.untilMs, now), now + least);
  return { untilMs, sinceMs, rounds, message: reported.message };
}

/** A little later than reported: clocks differ. */
function withMargin(untilMs: number, now: number): number {
  return Math.max(untilMs, now) + Math.min(15_000, 1000 + Math.max(0, untilMs - now) / 10);
}

/** Opens the file, or keeps the limits in memory where there is none. An entry that cannot be read is no limit. */
export async function openRateLimits(file: string | null): Promise<RateLimits> {
  const waits = new Map<string, Promise<boolean>>();
  const limits = new Map<string, RateLimit>(file === null ? [] : parse(await readText(file)));

  async function save(): Promise<void> {
    if (file === null) return;
    if (limits.size === 0) await removePath(file);
    else await writeOwn(file, `${JSON.stringify({ v: 1, limits: Object.fromEntries(limits) }, null, 2)}\n`);
  }

  return {
    get: (agent) => limits.get(agent) ?? null,
    async set(agent, limit) {
      limits.set(agent, limit);
      await save();
    },
    async clear(agent) {
      if (limits.delete(agent)) await save();
    },
    wait(agent, wait) {
      const waiting = waits.get(agent) ?? wait().finally(() => waits.delete(agent));
      waits.set(agent, waiting);
      return waiting;
    },
  };
}

function parse(text: string | null): readonly (readonly [string, RateLimit])[] {
  const found = jsonIn(text);
  if (at(found, "v") !== 1) return [];
  return Object.entries((at(found, "limits") ?? {}) as Readonly<Record<string, RateLimit>>).filter(([, limit]) =>
    ["untilMs", "sinceMs", "rounds"].every((name) => numberAt(limit, name) !== null)
  );
}

/** The limit that is waited for. */
interface WaitOptions extends Pick<RateLimit, "message" | "untilMs"> {
  readonly agent: string;
  readonly reason: "rate-limit" | "unavailable";
  readonly signal: AbortSignal;
}

/** Waits, and reports how long is left. @returns false when it was interrupted */
export async function waitUntil(ralph: Pick<RalphContext, "host" | "events">, options: WaitOptions): Promise<boolean> {
  const { clock } = ralph.host;
  const { agent, reason, untilMs, message, signal } = options;
  const startedAt = clock.now();
  const began = clock.steady();
  if (startedAt >= untilMs) return !signal.aborted;
  let reportedMs = untilMs - startedAt;
  const until = new Date(untilMs).toISOString();
  ralph.events.emit({ type: "wait-start", agent, reason, until, remainingMs: reportedMs, message });
  for (let now = startedAt; now < untilMs && !signal.aborted; now = clock.now()) {
    const remainingMs = untilMs - now;
    const isReported = remainingMs <= REPORTED_EVERY_MS || reportedMs - remainingMs >= REPORTED_EVERY_MS;
    if (now > startedAt && isReported) {
      ralph.events.emit({ type: "wait-delta", agent, remainingMs });
      reportedMs = remainingMs;
    }
    await clock.sleep(Math.min(SLICE_MS, remainingMs), signal);
  }
  ralph.events.emit({ type: "wait-end", agent, waitedMs: clock.steady() - began, interrupted: signal.aborted });
  return !signal.aborted;
}
