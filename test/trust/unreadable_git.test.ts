import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { memoryBacklog } from "../../lib/backlog/memory.ts";
import { runLoop } from "../../lib/loop/run/run_loop.ts";
import { loopWorld } from "../loop/loop_world.ts";
import { sampled } from "../sampled.ts";
import { inTurn } from "./in_turn.ts";

describe("a repository that git cannot read", () => {
  const BROKEN = sampled([
    ["HEAD that names nothing", "echo garbage > .git/HEAD"],
    ["no HEAD", "rm .git/HEAD"],
    ["a bare repository", "git config core.bare true"],
    ["a format of the future", "git config core.repositoryformatversion 99"],
    ["a configuration that is broken", "echo '[broken' >> .git/config"],
    ["no index", "rm -f .git/index"],
    ["no refs", "git pack-refs --all; rm -rf .git/refs"],
  ]);

  test("is fixed, and the run continues", async () => {
    const scripts = BROKEN.map(([, script]) => `work; ${script}`);
    const { found, items, passed, status } = await inTurn(
      scripts,
      async ({ world, item }) => await world.git("show", `HEAD:${item}.txt`) === item,
      { once: true },
    );

    expect([status, passed]).toEqual(["passed", items]);
    expect(found).toEqual(BROKEN.map(() => true));
  });

  test.each([
    ["removed", "rm -rf .git"],
    ["replaced", "rm -rf .git; git init -q"],
  ])("a git directory that a turn %s is named, and the tree stays", async (_name, script) => {
    const world = await loopWorld(({ cwd }) => {
      execFileSync("sh", ["-c", `echo a > a.txt; ${script}`], { cwd, stdio: "pipe" });
      return Promise.resolve({ lines: ["<ralph>DONE</ralph>"] });
    });
    await using _world = world;

    await expect(runLoop(world.ralph, memoryBacklog([{ id: "a", title: "write a.txt", checks: ["test -f a.txt"] }])))
      .rejects.toMatchObject({
        code: "git-failed",
        message: expect.stringContaining("the turn removed the git directory, or put another in its place"),
      });

    expect(readFileSync(join(world.root, "a.txt"), "utf8")).toBe("a\n");
    expect(existsSync(join(world.root, ".git/config"))).toBe(script.includes("init"));
  });
});
