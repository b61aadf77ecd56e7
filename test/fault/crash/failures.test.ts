import { describe, expect, onTestFinished, test } from "vitest";
import { ralphProgram } from "../program.ts";
import { LONGEST_MS, wrongAtSome } from "./wrong_at_some.ts";
import { readTree } from "./disk.ts";
import { failurePoints } from "./failures.ts";
import { crashProject, LEAVING } from "./projects.ts";
import { needs, only } from "../../needs.ts";

/** Another runtime makes other calls on its main thread. */
const isBun = /bun|ralph$/.test(ralphProgram()[0] ?? "");
const SEED = Number(process.env["RALPH_SEED"] ?? 20261122);

describe(
  "a write, a rename or a start of a program that fails, or before which Ralph dies",
  isBun ? needs("strace") : only(false, "Ralph under Bun"),
  () => {
    const cases = (["feature", "gsd"] as const).map((workflow, index) => ({ workflow, leaving: LEAVING[index + 1]! }));

    test.for(cases)(
      "is reported, and loses nothing in $workflow",
      { timeout: LONGEST_MS },
      async ({ workflow, leaving }) => {
        const project = crashProject(workflow, leaving);
        onTestFinished(() => project.remove());
        const points = await failurePoints(project, readTree(project.root));

        expect(points.length).toBeGreaterThan(100);
        expect(await wrongAtSome(points, { seed: SEED, count: 1 })).toEqual([]);
      },
    );
  },
);
