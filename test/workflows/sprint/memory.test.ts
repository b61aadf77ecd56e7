import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { bunPath } from "../../../tools/runtimes.mjs";

test("a step that was formatted takes less than 1 kB of memory, its text included", () => {
  const script = fileURLToPath(new URL("memory_of_steps.ts", import.meta.url));

  const ofStep = Number(execFileSync(bunPath(), [script], { encoding: "utf8" }));

  expect(ofStep).toBeGreaterThan(200);
  expect(ofStep).toBeLessThan(1000);
});
