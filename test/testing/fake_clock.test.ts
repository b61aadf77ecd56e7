import { describe, expect, test } from "vitest";
import { fakeClock } from "../../lib/testing/fake_clock.ts";

describe("fakeClock()", () => {
  test("fakeClock() wakes sleepers when their time has come, in order", async () => {
    const clock = fakeClock(1000);
    const woken: string[] = [];
    const late = clock.sleep(200).then(() => woken.push("late"));
    const early = clock.sleep(100).then(() => woken.push("early"));

    clock.advance(150);
    await early;

    expect(clock.now()).toBe(1150);
    expect(clock.sleeping).toBe(1);
    clock.advance(50);
    await late;
    expect(woken).toEqual(["early", "late"]);
  });

  test("fakeClock() wakes a sleeper whose signal aborts", async () => {
    const clock = fakeClock();
    const aborter = new AbortController();
    const slept = clock.sleep(1000, aborter.signal);

    aborter.abort();
    await slept;

    expect(clock.sleeping).toBe(0);
  });

  test("fakeClock() acts again and again until it is told to stop", () => {
    const clock = fakeClock();
    const acted: number[] = [];
    const ticker = clock.every(1000, () => acted.push(clock.now()));

    for (let count = 0; count < 5; count += 1) clock.advance(500);
    ticker[Symbol.dispose]();
    clock.advance(5000);

    expect(acted).toEqual([1000, 2000]);
    expect(clock.sleeping).toBe(0);
  });
});
