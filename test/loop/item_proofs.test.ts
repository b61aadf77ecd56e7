import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { memoryBacklog } from "../../lib/backlog/memory.ts";
import type { TurnRequest } from "../../lib/context/context.ts";
import { runLoop } from "../../lib/loop/run/run_loop.ts";
import { loopWorld } from "./loop_world.ts";

const START = "import assert from 'node:assert';\n";
const FILES = {
  "calc.mjs": "export const one = () => 1;\n",
  "test/one.mjs": `${START}import { one } from '../calc.mjs';\nassert.equal(one(), 1);\n`,
};
/** The first item is work with a test; the second one's test says nothing of its work. */
const TURNS = [
  {
    "add.mjs": "export const add = (a, b) => a + b;\n",
    "test/add.mjs": `${START}import { add } from '../add.mjs';\nassert.equal(add(2, 3), 5);\n`,
  },
  {
    "calc.mjs": "/** Counts. */\nexport const one = () => 1;\n",
    "test/two.mjs": `${START}assert.equal(1 + 1, 2);\n`,
  },
];

test("each item is tried without its own work, at its own commit", async () => {
  await using world = await loopWorld(async ({ cwd }: TurnRequest, number) => {
    for (const [path, text] of Object.entries(TURNS[number - 1] ?? {})) await writeFile(join(cwd, path), text);
    return { lines: ["<ralph>DONE</ralph>"] };
  }, { files: FILES, config: { verify: { default: ['for one in test/*.mjs; do node "$one" || exit 1; done'] } } });
  const items = [{ id: "a", title: "add(a, b)" }, { id: "b", title: "a comment" }];

  const run = await runLoop(world.ralph, memoryBacklog(items));

  expect(run).toMatchObject({ status: "passed", passed: ["a", "b"] });
  const proofs = world.events.flatMap((event) =>
    event.type === "experiments" && event.item !== null ? [[event.item.id, ...event.tried]] : []
  );
  expect(proofs).toEqual([
    ["a", "red without the work; the old checks agree; 1 of 1 canaries seen"],
    ["b", "passes without the work"],
  ]);
});
