import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { memoryBacklog } from "../../lib/backlog/memory.ts";
import { createHost } from "../../lib/host/create_host.ts";
import { runLoop } from "../../lib/loop/run/run_loop.ts";
import { loopWorld } from "./loop_world.ts";

const HOUR = 3_600_000;

const ITEMS = ["a", "b", "c"].map((id) => ({ id, title: `write ${id}`, checks: [`test -f ${id}`] }));

test.each([["an hour ahead", HOUR], ["an hour back", -HOUR], ["ahead and back", 0]])(
  "a wall clock that jumps %s in a turn changes no limit and no duration",
  async (_name, jump) => {
    const host = createHost();
    let off = 0;
    await using world = await loopWorld(async ({ cwd, prompt }, number) => {
      off = number % 2 === 1 ? jump || HOUR : jump;
      await writeFile(join(cwd, /write (\w)/.exec(prompt)?.[1] ?? ""), "");
      return { lines: ["<ralph>DONE</ralph>"] };
    }, { host: { ...host, clock: { ...host.clock, now: () => Date.now() + off } } });

    const run = await runLoop(world.ralph, memoryBacklog(ITEMS), { limits: { minutes: 10 } });

    expect(run).toMatchObject({ status: "passed", passed: ["a", "b", "c"] });
    const durations = world.events.flatMap((event) => "durationMs" in event ? [event.durationMs] : []);
    expect(durations.length).toBeGreaterThan(3);
    expect(durations.filter((duration) => duration < 0 || duration >= HOUR / 2)).toEqual([]);
  },
);

test("a limit is reached by time that passes, however far back the wall clock is set", async () => {
  const host = createHost();
  let off = 0;
  await using world = await loopWorld(async ({ cwd, prompt }) => {
    off -= HOUR;
    await writeFile(join(cwd, /write (\w)/.exec(prompt)?.[1] ?? ""), "");
    await host.clock.sleep(400);
    return { lines: ["<ralph>DONE</ralph>"] };
  }, { host: { ...host, clock: { ...host.clock, now: () => Date.now() + off } } });

  const run = await runLoop(world.ralph, memoryBacklog(ITEMS), { limits: { minutes: 0.005 } });

  expect(run).toMatchObject({ status: "exhausted" });
});
