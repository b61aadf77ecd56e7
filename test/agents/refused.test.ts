import { describe, expect, test } from "vitest";
import { memoryBacklog } from "../../lib/backlog/memory.ts";
import { runLoop } from "../../lib/loop/run/run_loop.ts";
import { loopWorld } from "../loop/loop_world.ts";

const IDLE = { activity: { toolCalls: 0, asked: false, planned: false } };

describe("a turn in which the agent refused to work", () => {
  test("is a failed attempt with its question, and no check is run for it", async () => {
    await using world = await loopWorld(() => Promise.resolve({ ...IDLE, lines: ["Which database?"] }));

    await runLoop(world.ralph, memoryBacklog([{ id: "a", title: "a", checks: ["true"] }]), { maxIterations: 1 });

    expect(world.events.filter(({ type }) => type === "check-start")).toEqual([]);
    expect(world.events.find((event) => event.type === "iteration-end")).toMatchObject({
      result: "failed",
      message: "the agent only asked a question that no one answers: Which database?",
    });
  });

  test("is none where it says that there is nothing left to do", async () => {
    await using world = await loopWorld(() => Promise.resolve({ ...IDLE, lines: ["<ralph>DONE</ralph>"] }));

    const run = await runLoop(world.ralph, memoryBacklog([{ id: "a", title: "a", checks: ["true"] }]));

    expect(run).toMatchObject({ status: "passed", passed: ["a"] });
  });
});
