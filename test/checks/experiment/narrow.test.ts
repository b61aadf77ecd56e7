import fc from "fast-check";
import { expect, it } from "vitest";
import { narrow } from "../../../lib/checks/experiment/narrow.ts";

function paths(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `file-${index}`);
}

it("one culprit among any number of files is found in log2 runs and two", async () => {
  await fc.assert(fc.asyncProperty(fc.integer({ min: 1, max: 200 }), fc.nat(), async (count, seed) => {
    const all = paths(count);
    const culprit = all[seed % count] ?? "";
    let runs = 0;
    const failsWith = (some: readonly string[]): Promise<boolean> => {
      runs += 1;
      return Promise.resolve(some.includes(culprit));
    };
    expect(await narrow(all, failsWith, 20)).toEqual({ paths: [culprit], isCutShort: false });
    expect(runs).toBeLessThanOrEqual(Math.ceil(Math.log2(count)) + 2);
  }));
});

it("two culprits are both found", async () => {
  const failsWith = (some: readonly string[]): Promise<boolean> =>
    Promise.resolve(some.includes("file-3") || some.includes("file-7"));
  expect((await narrow(paths(10), failsWith, 30)).paths).toEqual(["file-3", "file-7"]);
});

it("a search that is cut short names what is left, and says so", async () => {
  expect(await narrow(paths(8), () => Promise.resolve(null), 30)).toEqual({ paths: paths(8), isCutShort: true });
  const failsWith = (some: readonly string[]): Promise<boolean> => Promise.resolve(some.includes("file-5"));
  expect((await narrow(paths(8), failsWith, 2)).isCutShort).toBe(true);
});
