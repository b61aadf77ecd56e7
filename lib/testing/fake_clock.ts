import type { Clock } from "../host/types.ts";

/** A clock that stops until it is advanced. */
export interface FakeClock extends Clock {
  /** Lets `ms` milliseconds pass: sleepers whose time is up wake, in order. */
  advance(ms: number): void;
  /** How many are asleep. */
  readonly sleeping: number;
}

/**
 * A clock for tests, beginning at `start`.
 *
 * @param start milliseconds since 1970 @default 0
 *
 * @example A minute in no time
 * ```ts
 * import { fakeClock } from "ralph/testing";
 *
 * const clock = fakeClock();
 * const slept = clock.sleep(60_000);
 * clock.advance(60_000);
 * await slept;
 * console.log(clock.now()); // 60000
 * ```
 */
export function fakeClock(start = 0): FakeClock {
  let now = start;
  const sleepers = new Map<() => void, number>();
  return {
    now: () => now,
    steady: () => now,
    sleep(ms: number, signal?: AbortSignal): Promise<void> {
      if (ms <= 0 || signal?.aborted === true) return Promise.resolve();
      return new Promise((resolve) => {
        function wake(): void {
          sleepers.delete(wake);
          signal?.removeEventListener("abort", wake);
          resolve();
        }
        sleepers.set(wake, now + ms);
        signal?.addEventListener("abort", wake, { once: true });
      });
    },
    every(ms: number, act: () => void): Disposable {
      function wake(): void {
        sleepers.set(wake, now + ms);
        act();
      }
      sleepers.set(wake, now + ms);
      return { [Symbol.dispose]: () => void sleepers.delete(wake) };
    },
    advance(ms: number): void {
      now += ms;
      for (const [wake, due] of [...sleepers].sort((one, other) => one[1] - other[1])) if (due <= now) wake();
    },
    get sleeping() {
      return sleepers.size;
    },
  };
}
