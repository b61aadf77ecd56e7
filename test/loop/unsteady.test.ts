import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { memoryBacklog } from "../../lib/backlog/memory.ts";
import { temporaryDirectory } from "../../lib/host/files.ts";
import { runLoop } from "../../lib/loop/run/run_loop.ts";
import { loopWorld } from "./loop_world.ts";

const TURN = async ({ cwd }: { readonly cwd: string }) => {
  await writeFile(join(cwd, "a.txt"), "x\n");
  return { lines: ["<ralph>DONE</ralph>"] };
};

/** Fails from its Nth run on, so often; counts outside of the trees that it runs in. */
function failing(folder: string, from: number, times: number): string {
  return `n=$(($(cat ${folder}/n || echo 0) + 1)); echo $n > ${folder}/n; ` +
    `test $n -lt ${from} || test $n -ge ${from + times}`;
}

describe("a check that is red in the final check", () => {
  test("once is run again on the same commit, counts as green there, and is named unsteady", async () => {
    await using world = await loopWorld(TURN);
    await using folder = await temporaryDirectory("ralph-unsteady");
    const command = failing(folder.path, 2, 1);

    const run = await runLoop(world.ralph, memoryBacklog([{ id: "a", title: "a", checks: [command] }]));

    expect(run).toMatchObject({ status: "passed", turns: 1 });
    expect(run.notices.filter(({ kind }) => kind === "unsteady").map(({ subject }) => subject)).toEqual([command]);
    const printed = world.events.filter(({ type }) => type === "check-end");
    expect(printed.map((event) => "ok" in event && event.ok)).toEqual([true, false, true]);
  });

  test("twice accuses, as before", async () => {
    await using world = await loopWorld(TURN);
    await using folder = await temporaryDirectory("ralph-unsteady");
    const command = failing(folder.path, 2, 2);

    const run = await runLoop(world.ralph, memoryBacklog([{ id: "a", title: "a", checks: [command] }]));

    expect(run.turns).toBe(2);
    expect(world.events.filter(({ type }) => type === "items-reopened")).toHaveLength(1);
  });

  test("does not repeat what reached its time limit", async () => {
    await using world = await loopWorld(TURN, { config: { verify: { timeout: 1 } } });
    await using folder = await temporaryDirectory("ralph-unsteady");
    const command =
      `n=$(($(cat ${folder.path}/n || echo 0) + 1)); echo $n > ${folder.path}/n; test $n != 2 || sleep 60`;

    await runLoop(world.ralph, memoryBacklog([{ id: "a", title: "a", checks: [command] }]), { maxIterations: 1 });

    expect(world.events.filter(({ type }) => type === "check-end")).toHaveLength(2);
  });
});
