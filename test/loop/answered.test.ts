import { describe, expect, test } from "vitest";
import { memoryBacklog } from "../../lib/backlog/memory.ts";
import type { Backlog } from "../../lib/backlog/types.ts";
import { runLoop } from "../../lib/loop/run/run_loop.ts";
import { loopWorld } from "./loop_world.ts";

const TASKS = [{ id: "a", title: "a", checks: ["true"] }];

describe("runLoop() with a backlog that breaks its contract", () => {
  test.each([
    ["next", "next() answered nothing, expected a `status`"],
    ["settle", "settle() answered nothing, expected a `status`"],
  ])("names %s()", async (call, problem) => {
    await using world = await loopWorld(async () => ({ lines: ["<ralph>DONE</ralph>"] }));
    const broken = { ...memoryBacklog(TASKS), name: "mine", [call]: async () => undefined } as unknown as Backlog;

    await expect(runLoop(world.ralph, broken)).rejects.toMatchObject({
      code: "backlog-invalid",
      message: `the backlog mine broke its contract: ${problem}`,
    });
  });

  test.each([1, 2])("names a wait for nothing, with %i workers", async (workers) => {
    await using world = await loopWorld(async () => ({ lines: ["<ralph>DONE</ralph>"] }));
    const backlog = memoryBacklog(TASKS) as Backlog;
    const waiting: Backlog = {
      ...backlog,
      async next(options) {
        const next = await backlog.next(options);
        return next.status === "item" ? next : { status: "waiting" };
      },
    };

    await expect(runLoop(world.ralph, waiting, { workers })).rejects.toMatchObject({
      code: "backlog-invalid",
      message: expect.stringContaining("next() waits although nothing is in flight"),
    });
    expect(await world.git("log", "--format=%s")).toContain("a");
  });

  test("an attempt that stays open without a reason is told with its own", async () => {
    await using world = await loopWorld(async () => ({ lines: [] }));
    const silent: Backlog = { ...memoryBacklog(TASKS) as Backlog, settle: async () => ({ status: "open" }) };

    await runLoop(world.ralph, silent, { maxIterations: 1 });

    expect(world.events.find(({ type }) => type === "iteration-end")).toMatchObject({
      result: "not-done",
      message: "the answer did not end with `<ralph>DONE</ralph>`",
    });
  });
});
