import { utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { commitOfTree } from "../../lib/checks/checkout/open_checkout.ts";
import { loopWorld } from "../loop/loop_world.ts";

test("a change in the second of the last commit, of the same size, is in what would be committed", async () => {
  await using world = await loopWorld(() => Promise.resolve(), {
    files: { "add.mjs": "a - b", ".gitignore": ".ralph/\n" },
  });
  const [file, index] = [join(world.root, "add.mjs"), join(world.root, ".git/index")];
  await world.git("config", "core.trustctime", "false");
  const then = 1_700_000_000;
  utimesSync(file, then, then);
  await world.git("add", "add.mjs");
  utimesSync(index, then, then);
  writeFileSync(file, "a + b");
  utimesSync(file, then, then);

  const commit = await commitOfTree(world.ralph);

  expect(await world.git("show", `${commit}:add.mjs`)).toBe("a + b");
});
