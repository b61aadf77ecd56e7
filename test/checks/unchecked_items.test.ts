import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { memoryBacklog } from "../../lib/backlog/memory.ts";
import { todoBacklog } from "../../lib/backlog/todo.ts";
import { runLoop } from "../../lib/loop/run/run_loop.ts";
import { loopWorld } from "../loop/loop_world.ts";

describe("items that name no check", () => {
  test("take verify.default, also where the backlog itself knows nothing of it", async () => {
    await using world = await loopWorld(async ({ cwd }) => {
      await writeFile(join(cwd, "a.txt"), "a");
      return { lines: ["<ralph>DONE</ralph>"] };
    }, { config: { verify: { default: ["test -f a.txt"] } } });

    const run = await runLoop(world.ralph, memoryBacklog([{ id: "a", title: "write a.txt" }]));

    expect(run).toMatchObject({ status: "passed", passed: ["a"], unverified: [] });
  });

  test("are failed by a verify.default that fails", async () => {
    await using world = await loopWorld(async () => ({ lines: ["<ralph>DONE</ralph>"] }), {
      config: { verify: { default: ["test -f a.txt"], allowUnverified: true } },
    });

    const run = await runLoop(world.ralph, memoryBacklog([{ id: "a", title: "write a.txt" }]));

    expect(run).toMatchObject({ status: "blocked", passed: [] });
  });
});

describe("todoBacklog()", () => {
  test("an item's own Verify commands are its checks; the commit's subject leaves them out", async () => {
    await using world = await loopWorld(async ({ cwd }) => {
      await writeFile(join(cwd, "a.txt"), "a");
      return { lines: ["<ralph>DONE</ralph>"] };
    }, { files: { "TODO.md": "- [ ] write a.txt. Verify: `test -f a.txt`\n" } });

    const run = await runLoop(world.ralph, todoBacklog(world.ralph));

    expect(run).toMatchObject({ status: "passed", unverified: [] });
    expect(await world.git("log", "--format=%s", "-n", "1")).toBe("feat: write a.txt");
    expect(await world.ralph.state.read("TODO.md")).toBe("- [x] write a.txt. Verify: `test -f a.txt`\n");
  });

  test("a Verify command that fails keeps the item open", async () => {
    await using world = await loopWorld(async () => ({ lines: ["<ralph>DONE</ralph>"] }), {
      files: { "TODO.md": "- [ ] write a.txt. Verify: `test -f a.txt`\n" },
    });

    const run = await runLoop(world.ralph, todoBacklog(world.ralph));

    expect(run).toMatchObject({ status: "blocked", passed: [] });
    expect(await world.ralph.state.read("TODO.md")).toContain("- [ ] write a.txt");
  });
});
