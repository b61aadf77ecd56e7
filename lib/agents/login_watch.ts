import type { Clock } from "../host/types.ts";
import { failureKind } from "./failures.ts";

/** How long an agent may be silent after it has said that it is not logged in: some wait for a person then, for ever. */
const SILENCE_MS = 20_000;
const LONGEST_LINE = 2000;

/** Ends a turn whose agent waits for a login. */
export interface LoginWatch extends Disposable {
  /** Aborts when the agent asked for a login and said nothing after it. */
  readonly signal: AbortSignal;
  /** Takes what the agent prints, on either stream. */
  push(chunk: Uint8Array): void;
  /** The line that asks for the login, where the turn was ended for it. */
  said(): string | null;
}

/** @param events how many events the agent's stream has had: one that is at work needs no login */
export function createLoginWatch(clock: Pick<Clock, "sleep">, events: () => number): LoginWatch {
  const ended = new AbortController();
  const stop = new AbortController();
  let line: string | null = null;
  let rest = "";

  async function wait(before: number): Promise<void> {
    await clock.sleep(SILENCE_MS, stop.signal);
    if (!stop.signal.aborted && events() === before) ended.abort();
  }

  return {
    signal: ended.signal,
    push(chunk) {
      if (line !== null || events() > 1) return;
      const lines = (rest + Buffer.from(chunk).toString("utf8")).split("\n");
      rest = (lines.pop() ?? "").slice(-LONGEST_LINE);
      line = lines.find((one) => !one.startsWith("{") && failureKind(one, null) === "auth")?.trim() ?? null;
      if (line !== null) void wait(events());
    },
    said: () => ended.signal.aborted ? line : null,
    [Symbol.dispose]: () => stop.abort(),
  };
}
