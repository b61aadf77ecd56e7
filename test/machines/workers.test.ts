import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ARTEFACT } from "../e2e/cli.ts";
import { STORY_AGENT } from "./clones.ts";
import { Postgres } from "./postgres.ts";
import { type Blow, runTrial, type TrialEnd } from "./trial.ts";
import { needs, only } from "../needs.ts";

/** `RALPH_MACHINES=all`: the trials of docs/scale.md. */
const LONG_FORM = only(process.env["RALPH_MACHINES"] === "all", "the long form");

describe("items worked on by workers elsewhere", needs("postgresql"), () => {
  let postgres: Postgres;

  beforeAll(async () => {
    postgres = await Postgres.start();
  });

  afterAll(() => postgres[Symbol.dispose]());

  const expectWhole = (end: TrialEnd, items: number): void => {
    expect(end.exitCode, end.log).toBe(0);
    expect(Object.values(end.commits)).toEqual(Array.from({ length: items }, () => 1));
    expect(end.passed).toBe(items);
    expect([...end.refs, ...end.pushed].filter((ref) => !ref.startsWith("refs/ralph/"))).toEqual([]);
    expect(end.fsck).toBe("");
    expect(end.status).toBe("");
    const cpu = { coordinator: end.coordinatorCpu, workers: end.workersCpu, database: end.databaseCpu };
    const figures = { cpu, turns: end.turns.length, seconds: Math.round(end.seconds), worker: end.workerMiB };
    console.log(JSON.stringify({ ...figures, coordinator: end.coordinatorMiB, items, refs: end.refs.length }));
  };

  test("each item is settled once, whoever is killed", async () => {
    const blows: readonly Blow[] = [
      { afterMs: 6_000, to: 0, how: "kill" },
      { afterMs: 9_000, to: "coordinator", how: "kill" },
    ];
    const end = await runTrial({
      ralph: ARTEFACT,
      agent: STORY_AGENT,
      items: 8,
      workers: 2,
      seconds: 1,
      blows,
      postgres,
      limitMs: 150_000,
    });

    expectWhole(end, 8);
    expect(end.log).toMatch(/coordinator: (?:.*\n)*.*agent .*: completed/); // it shows what happens elsewhere
    expect(end.turns.length).toBeLessThanOrEqual(8 + 2); // only what was killed was taken again
  }, 200_000);

  test("300 items with an agent of no time, 4 workers", { timeout: 1_600_000, ...LONG_FORM }, async () => {
    const end = await runTrial({
      ralph: ARTEFACT,
      agent: STORY_AGENT,
      items: 300,
      workers: 4,
      seconds: 0,
      blows: [],
      postgres,
      limitMs: 1_500_000,
    });

    expectWhole(end, 300);
    expect(end.turns.length).toBe(300);
  });

  test(
    "40 items, 3 workers: kills of workers, coordinator and database, and a frozen worker",
    { timeout: 700_000, ...LONG_FORM },
    async () => {
      const blows: readonly Blow[] = [
        ...Array.from({ length: 9 }, (_, index): Blow => ({
          afterMs: 8_000 + index * 5_000,
          to: index % 3 === 2 ? "coordinator" : index % 3,
          how: "kill",
        })),
        { afterMs: 20_500, to: 2, how: { freeze: 45_000 } },
        { afterMs: 30_500, to: "database", how: "kill" },
        { afterMs: 40_500, to: "coordinator", how: { freeze: 10_000 } },
      ];
      const end = await runTrial({
        ralph: ARTEFACT,
        agent: STORY_AGENT,
        items: 40,
        workers: 3,
        seconds: 2,
        blows,
        postgres,
        limitMs: 600_000,
      });

      expectWhole(end, 40);
    },
  );
});
