import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { ralphProgram } from "../program.ts";
import { chosenPoints } from "./chosen_points.ts";
import { failures } from "./failures.ts";
import { LEAVING, WORKFLOWS } from "./projects.ts";

const hasStrace = process.platform === "linux" && spawnSync("strace", ["-V"]).status === 0;
/** Another runtime makes other calls on its main thread. */
const isBun = /bun|ralph$/.test(ralphProgram()[0] ?? "");
const SEED = Number(process.env["RALPH_SEED"] ?? 20261122);
/** `npm run test:crash` tries all calls. */
const CHOSEN = chosenPoints(SEED, 500);

describe.skipIf(!hasStrace || !isBun)(
  "a write, a rename or a start of a program that fails, or before which Ralph dies",
  () => {
    const cases = WORKFLOWS.map((workflow, index) => ({ workflow, leaving: LEAVING[(index + 1) % LEAVING.length]! }))
      .filter(({ workflow }) => CHOSEN.all || ["feature", "gsd"].includes(workflow));
    const options = { timeout: CHOSEN.timeout };

    test.for(cases)("is reported, and loses nothing in $workflow", options, async ({ workflow, leaving }) => {
      const { points, tried, wrong } = await failures(workflow, leaving, CHOSEN.has);

      console.log(`${workflow}, work in the ${leaving}: ${tried} of ${points} points, seed ${SEED}`);
      expect(wrong).toEqual([]);
      expect(tried).toBeGreaterThan(0);
    });
  },
);
