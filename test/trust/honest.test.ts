import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { WORK_BESIDE_TESTS } from "./rows/beside.ts";
import { HARD } from "./rows/hard.ts";
import { HONEST } from "./rows/honest.ts";
import { runCase } from "./rows/run_case.ts";
import type { HonestCase } from "./rows/types.ts";
import { chosen } from "./table.ts";
import { needsFor } from "../needs.ts";

describe("odd but right", () => {
  for (const given of chosen<HonestCase>([...HONEST, ...HARD, ...WORK_BESIDE_TESTS])) {
    const options = { timeout: 180_000, ...needsFor(`bash ${JSON.stringify({ ...given, name: "" })}`) };
    test(`${given.workflow}, ${given.language}: ${given.name}`, options, async () => {
      const ran = await runCase(given);

      expect(ran.turns.filter((code) => code !== 0), `the case's own agent failed\n${ran.output}`).toEqual([]);
      expect(ran.exitCode, ran.output).toBe(0);
      expect(ran.isTrue, `what is committed does not work\n${ran.output}`).toBe(true);
      if (given.silent !== undefined) expect(ran.lastLines).not.toMatch(given.silent);
      const after = spawnSync("bash", ["-c", given.holds ?? ":"], { cwd: ran.root, encoding: "utf8" });
      expect(after.status, `${after.stdout}${after.stderr}\n${ran.output}`).toBe(0);
    });
  }
});
