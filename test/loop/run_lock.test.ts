import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createRalph } from "../../lib/recipe/create_ralph.ts";
import { loopWorld } from "./loop_world.ts";

const FILES = { "packages/a/README.md": "a\n", "packages/b/README.md": "b\n" };

describe("the run lock", () => {
  test("is the working tree's: a second root of it waits, whichever of them comes first", async () => {
    await using world = await loopWorld(async () => {}, { files: FILES });
    await using a = await createRalph({ root: join(world.root, "packages/a") });
    await using b = await createRalph({ root: join(world.root, "packages/b") });
    for (const [first, second] of [[a, b], [a, world.ralph], [world.ralph, b]] as const) {
      await using _held = await first.lock.acquire("run");
      await expect(second.lock.acquire("run")).rejects.toMatchObject({ code: "run-locked" });
    }
    await using _held = await a.lock.acquire("run");
    await expect(b.lock.acquire("run")).rejects.toThrow("`ralph run --root packages/a`");
  });

  test("is released whole, and each linked working tree has its own", async () => {
    await using world = await loopWorld(async () => {}, { files: FILES });
    await world.git("worktree", "add", "-q", join(world.root, "linked"), "-b", "side");
    await using a = await createRalph({ root: join(world.root, "packages/a") });
    await using linked = await createRalph({ root: join(world.root, "linked/packages/a") });
    {
      await using _held = await a.lock.acquire("run");
      await using _other = await linked.lock.acquire("run");
    }
    expect(existsSync(join(world.root, ".git/ralph/run.lock"))).toBe(false);
    await using _again = await world.ralph.lock.acquire("run");
  });
});
