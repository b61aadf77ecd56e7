import type { RalphContext } from "../context/context.ts";

/** What is waited for. */
export interface WaitOptions {
  readonly agent: string;
  readonly reason: "rate-limit" | "unavailable";
  /** Milliseconds since 1970. */
  readonly untilMs: number;
  readonly message: string;
  readonly signal: AbortSignal;
}

/** A machine may sleep meanwhile: the clock is looked at this often, and it is what counts. */
const SLICE_MS = 60_000;
/** The time left is reported this often while it is long, then with each slice. */
const TOLD_EVERY_MS = 600_000;

/** Waits, and reports how long is left. @returns false when it was interrupted */
export async function waitUntil(ralph: Pick<RalphContext, "host" | "events">, options: WaitOptions): Promise<boolean> {
  const { clock } = ralph.host;
  const { agent, reason, untilMs, message, signal } = options;
  const startedAt = clock.now();
  if (startedAt >= untilMs) return !signal.aborted;
  ralph.events.emit({
    type: "wait-start",
    agent,
    reason,
    until: new Date(untilMs).toISOString(),
    remainingMs: untilMs - startedAt,
    message,
  });
  let toldMs = untilMs - startedAt;
  for (let now = startedAt; now < untilMs && !signal.aborted; now = clock.now()) {
    const remainingMs = untilMs - now;
    const isTold = remainingMs <= TOLD_EVERY_MS || toldMs - remainingMs >= TOLD_EVERY_MS;
    if (now > startedAt && isTold) {
      ralph.events.emit({ type: "wait-delta", agent, remainingMs });
      toldMs = remainingMs;
    }
    await clock.sleep(Math.min(SLICE_MS, remainingMs), signal);
  }
  ralph.events.emit({ type: "wait-end", agent, waitedMs: clock.now() - startedAt, interrupted: signal.aborted });
  return !signal.aborted;
}
