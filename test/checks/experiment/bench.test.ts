import { expect, test } from "vitest";
import { createBench } from "../../../lib/checks/experiment/bench.ts";
import { testContext } from "../../../lib/testing/mod.ts";

test("no run begins over the budget, but for the one that repeats a suspicion", async () => {
  await using ralph = await testContext();
  const bench = createBench(ralph, {
    bringUp: () => Promise.resolve({ status: "failed", reason: "it was tried" }),
    checks: [],
    budgetMs: 1000,
    expectedMs: 2000,
    signal: new AbortController().signal,
  });

  expect(await bench.run("a")).toMatchObject({ reason: "there was no time left for it" });
  expect(await bench.run("a", "again")).toMatchObject({ reason: "it was tried" });
});
