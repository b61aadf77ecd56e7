import { clearInterval, setInterval } from "node:timers";
import { setTimeout as wait } from "node:timers/promises";
import type { Clock } from "./types.ts";

/** The machine's own clock. */
export function createClock(): Clock {
  return { now: () => Date.now(), sleep, every };
}

async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  try {
    await wait(ms, undefined, signal === undefined ? {} : { signal });
  } catch (error) {
    if (!signal?.aborted) throw error;
  }
}

function every(ms: number, act: () => void): Disposable {
  const timer = setInterval(act, ms);
  timer.unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
