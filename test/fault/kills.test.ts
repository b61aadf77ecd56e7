import { describe, expect, test } from "vitest";
import { LONG } from "../sampled.ts";
import { killStorm } from "./kill_storm.ts";
import { ralphProgram } from "./program.ts";
import { seededRandom } from "./random.ts";
import { WORKFLOWS } from "./workflow_files.ts";
import { needs } from "../needs.ts";

describe("a run that is killed", needs("Linux"), () => {
  test.each(LONG ? WORKFLOWS : ["exec" as const])(
    "%s: loses nothing, does nothing twice and leaves nothing behind",
    async (workflow) => {
      const random = seededRandom(20261121);
      const storm = { workflow, ralph: ralphProgram(), items: 7, random };
      const unkilled = await killStorm({ ...storm, kills: 0 });
      const wrong = [...unkilled.wrong];
      let kills = 0;

      while (kills < 12 && wrong.length === 0) {
        const result = await killStorm({ ...storm, kills: 12 - kills, wanted: unkilled.outcome! });
        kills += result.kills;
        wrong.push(...result.wrong);
      }

      expect(wrong).toEqual([]);
      expect(kills).toBe(12);
    },
    180_000,
  );
});
