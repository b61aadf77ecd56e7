import { EventEmitter } from "node:events";
import { describe, expect, test } from "vitest";
import type { Terminal } from "../../lib/host/types.ts";
import { fakeClock } from "../../lib/testing/fake_clock.ts";
import { createLiveView } from "../../lib/ui/live_view.ts";
import { createStyle } from "../../lib/ui/text.ts";

const TURN = { type: "turn-start", agent: "claude", transcript: "t.log" } as const;
const unknown = {
  inputTokens: null,
  outputTokens: null,
  cachedTokens: null,
  reasoningTokens: null,
  costUsd: null,
  estimated: false,
};
const TURN_END = {
  type: "turn-end",
  agent: "claude",
  reason: "completed",
  message: null,
  durationMs: 1,
  usage: unknown,
} as const;

function world() {
  const clock = fakeClock();
  const stderr = new EventEmitter();
  const frames: (readonly string[])[] = [];
  let columns = 80;
  const view = createLiveView({
    clock,
    style: createStyle({ colour: false, ascii: false }),
    terminal: {
      stderr: stderr as unknown as Terminal["stderr"],
      size: () => ({ columns, rows: 24 }),
      footer: (lines) => void frames.push(lines),
    },
  });
  return {
    view,
    clock,
    frames,
    listeners: () => stderr.listenerCount("resize"),
    resize(to: number) {
      columns = to;
      stderr.emit("resize");
    },
    async pass(ms: number) {
      for (let passed = 0; passed < ms; passed += 50) {
        clock.advance(50);
        await Promise.resolve();
        await Promise.resolve();
      }
    },
  };
}

describe("createLiveView()", () => {
  test("draws once a second while a turn continues, and not at all afterwards", async () => {
    const { view, clock, frames, pass, listeners } = world();

    view.emit(TURN);
    await pass(3200);
    expect(frames.map(([first]) => first)).toEqual([0, 1, 2, 3].map((second) => `◆ claude · ${second}s`));
    view.emit(TURN_END);
    await pass(5000);

    expect(frames.slice(4)).toEqual([[]]);
    expect([clock.sleeping, listeners()]).toEqual([0, 0]);
  });

  test("draws at most ten times a second, however much comes", async () => {
    const { view, frames, pass } = world();

    view.emit(TURN);
    for (let count = 0; count < 20; count += 1) {
      for (let line = 0; line < 1000; line += 1) view.emit({ type: "agent-text", text: `${count}.${line}` });
      await pass(50);
    }

    expect(frames.length).toBeGreaterThanOrEqual(9);
    expect(frames.length).toBeLessThanOrEqual(12);
    expect(frames.at(-1)?.at(-1)).toMatch(/1[89]\.999/);
  });

  test("is not taken away between two checks", async () => {
    const { view, frames, pass } = world();
    const check = (number: number) => ({ type: "check-start", name: "npm test", scope: "", number, total: 2 }) as const;
    const end = {
      type: "check-end",
      name: "npm test",
      scope: "",
      ok: true,
      exitCode: 0,
      durationMs: 1,
      tail: "",
    } as const;

    view.emit(check(1));
    await pass(300);
    view.emit(end);
    view.emit(check(2));
    await pass(300);

    expect(frames.map((lines) => lines[1])).toEqual(["  check 1/2 npm test", "  check 2/2 npm test"]);
  });

  test("shows what a plain agent prints, as long as that agent is at work", async () => {
    const { view, frames, pass } = world();
    let printed = "";

    view.emit(TURN);
    view.preview?.(() => printed);
    await pass(100);
    printed = "one\ntwo\n";
    await pass(1000);
    expect(frames.at(-1)?.[2]).toBe("  │ two");
    view.emit(TURN_END);
    view.emit(TURN);
    await pass(1000);

    expect(frames.at(-1)).toHaveLength(2);
  });

  test("is drawn anew for another width at once", async () => {
    const { view, frames, pass, resize } = world();
    view.emit({ type: "step-start", step: "plan", title: "Plan something that needs many words" });
    view.emit(TURN);
    await pass(100);

    resize(20);

    expect(frames.at(-1)?.[0]).toBe("◆ Plan someth… · 0s");
  });

  test("disposed in the middle of a turn: nothing is left, and nothing comes back", async () => {
    const { view, clock, frames, pass, listeners } = world();
    view.emit(TURN);
    await pass(500);

    view[Symbol.dispose]();
    view.emit(TURN);
    await pass(2000);

    expect(frames.at(-1)).toEqual([]);
    expect([frames.length, clock.sleeping, listeners()]).toEqual([2, 0, 0]);
  });
});
