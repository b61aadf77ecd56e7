import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { memoryBacklog } from "../../lib/backlog/memory.ts";
import { runLoop } from "../../lib/loop/run/run_loop.ts";
import { loopWorld, type Turns } from "./loop_world.ts";

const DONE = { lines: ["<ralph>DONE</ralph>"] };

/** Writes a file and says that it is done. */
function writes(path: string, text = "x\n"): Turns {
  return async ({ cwd }) => {
    await writeFile(join(cwd, path), text);
    return DONE;
  };
}

describe("runLoop()", () => {
  test("passes an item whose checks pass, and commits what the turn left", async () => {
    await using world = await loopWorld(writes("a.txt"));
    const backlog = memoryBacklog([{ id: "a", title: "write a", checks: ["test -f a.txt"] }]);

    const run = await runLoop(world.ralph, backlog);

    expect(run).toMatchObject({ status: "passed", passed: ["a"], iterations: 1 });
    expect(await world.git("log", "--format=%s")).toBe("feat: write a\nstart");
    expect(await world.git("status", "--porcelain")).toBe("");
  });

  test("says why it ended where an error ends it, for the report and who is told elsewhere", async () => {
    await using world = await loopWorld(writes("a.txt"));
    const backlog = memoryBacklog([{ id: "a", title: "write a", checks: ["true"] }]);
    const broken = { ...backlog, next: () => Promise.reject(new Error("the tracker is gone")) };

    await expect(runLoop(world.ralph, broken)).rejects.toThrow("the tracker is gone");

    expect(world.events.at(-1)).toMatchObject({ type: "run-end", status: "error", reasons: ["the tracker is gone"] });
  });

  test("feeds the failing check's output into the next prompt, and commits both attempts' files at the end", async () => {
    await using world = await loopWorld(async ({ cwd }, number) => {
      await writeFile(join(cwd, `part${number}.txt`), "x");
      return DONE;
    });
    const check = "test -f part2.txt || { echo no part two; exit 7; }";

    const run = await runLoop(world.ralph, memoryBacklog([{ id: "a", title: "two parts", checks: [check] }]));

    expect(run).toMatchObject({ status: "passed", turns: 2 });
    expect(world.prompts[0]).not.toContain("no part two");
    expect(world.prompts[1]).toContain("exit 7\nno part two");
    expect(await world.git("show", "--name-only", "--format=")).toBe("part1.txt\npart2.txt");
  });

  test("a hook that refuses the commit makes the attempt a failed one, whose reason the next prompt has", async () => {
    await using world = await loopWorld(async ({ cwd }, number) => {
      await writeFile(join(cwd, "a.txt"), number === 1 ? "TODO\n" : "fine\n");
      return DONE;
    });
    await world.write(
      ".git/hooks/pre-commit",
      "#!/bin/sh\nif grep -q TODO a.txt; then echo no TODO please; exit 1; fi\n",
    );
    await world.git("config", "core.hooksPath", ".git/hooks");
    await chmod(join(world.root, ".git/hooks/pre-commit"), 0o755);

    const run = await runLoop(world.ralph, memoryBacklog([{ id: "a", title: "a", checks: ["true"] }]));

    expect(run).toMatchObject({ status: "passed", turns: 2 });
    expect(world.prompts[1]).toContain("no TODO please");
    expect(await world.git("show", "HEAD:a.txt")).toBe("fine");
  });

  test("an abort during the turn ends the run as aborted, and the item is open again", async () => {
    const aborter = new AbortController();
    await using world = await loopWorld(async () => {
      aborter.abort();
      return { end: { reason: "aborted" } };
    }, { signal: aborter.signal });

    const run = await runLoop(world.ralph, memoryBacklog([{ id: "a", title: "a", checks: ["true"] }]));

    expect(run.status).toBe("aborted");
    expect(world.ralph.journal.open({ backlog: "memory", scope: "" })).toEqual([]);
  });

  test("what was begun and never settled is settled as interrupted by the next run, and its files are the item's", async () => {
    await using world = await loopWorld(writes("b.txt"));
    const key = { backlog: "memory", scope: "" };
    const task = { id: "a", title: "a", checks: ["test -f b.txt"] };
    await world.ralph.journal.begun(key, { id: "a", kind: "task", title: "a", data: task }, {
      id: "r.1",
      number: 1,
      userPaths: [],
    });
    await world.write("half.txt", "from the killed turn\n");

    const run = await runLoop(await world.again(), memoryBacklog([task]));

    expect(run).toMatchObject({ status: "passed", turns: 1 });
    expect(await world.git("show", "--name-only", "--format=")).toBe("b.txt\nhalf.txt");
  });

  test("a second run in the same tree is refused with the first one's pid", async () => {
    await using world = await loopWorld(async () => DONE);
    const other = await world.again();
    await using _held = await other.lock.acquire("run");

    const second = runLoop(world.ralph, memoryBacklog([{ id: "a", title: "a", checks: ["true"] }]));

    await expect(second).rejects.toMatchObject({
      code: "run-locked",
      message: expect.stringContaining(`pid ${process.pid}`),
    });
  });
});
