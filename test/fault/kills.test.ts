import { describe, expect, test } from "vitest";
import { killStorm } from "./kill_storm.ts";
import { seededRandom } from "./random.ts";
import { ralphProgram } from "./program.ts";

describe.skipIf(process.platform !== "linux")("a run that is killed", () => {
  test("loses nothing, does nothing twice and leaves nothing behind", async () => {
    const random = seededRandom(20261121);
    const wrong: string[] = [];
    let kills = 0;

    while (kills < 12 && wrong.length === 0) {
      const result = await killStorm({ ralph: ralphProgram(), kills: 12 - kills, stories: 7, random });
      kills += result.kills;
      wrong.push(...result.wrong);
    }

    expect(wrong).toEqual([]);
    expect(kills).toBe(12);
  }, 180_000);
});
