import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { ralphProgram } from "../program.ts";
import { seededRandom } from "../random.ts";
import { failures } from "./failures.ts";
import { LEAVING, WORKFLOWS } from "./projects.ts";

const hasStrace = process.platform === "linux" && spawnSync("strace", ["-V"]).status === 0;
/** Another runtime makes other calls on its main thread. */
const isBun = /bun|ralph$/.test(ralphProgram()[0] ?? "");
const SEED = Number(process.env["RALPH_SEED"] ?? 20261122);
/** In parts of a thousand: `npm run test:crash` tries all of them. */
const SHARE = Number(process.env["RALPH_CRASHES"] ?? 5) / 1000;

describe.skipIf(!hasStrace || !isBun)(
  "a write, a rename or a start of a program that fails, or before which Ralph dies",
  () => {
    const cases = WORKFLOWS.map((workflow, index) => ({ workflow, leaving: LEAVING[(index + 1) % LEAVING.length]! }));
    const options = { timeout: SHARE >= 1 ? 7_200_000 : 180_000 };

    test.for(cases)("is reported, and loses nothing in $workflow", options, async ({ workflow, leaving }) => {
      const random = seededRandom(SEED);

      const { points, tried, wrong } = await failures(workflow, leaving, () => random() < SHARE);

      console.log(`${workflow}, work in the ${leaving}: ${tried} of ${points} points, seed ${SEED}`);
      expect(wrong).toEqual([]);
      expect(tried).toBeGreaterThan(0);
    });
  },
);
