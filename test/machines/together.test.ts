import { describe, expect, test } from "vitest";
import { fetchEach, pushEach } from "../../lib/machines/remote.ts";
import { together } from "../../lib/machines/together.ts";

const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

describe("together()", () => {
  test("what is asked for while a call is under way goes in one call after it, and each has its own answer", async () => {
    const calls: (readonly number[])[] = [];
    const double = together(async (asks: readonly number[]) => {
      calls.push(asks);
      await turn();
      return asks.map((ask) => 2 * ask);
    });
    const first = double(1);
    await Promise.resolve();
    const answers = await Promise.all([first, double(2), double(3), double(4)]);

    expect(answers).toEqual([2, 4, 6, 8]);
    expect(calls).toEqual([[1], [2, 3, 4]]);
    expect(await double(5)).toBe(10);
  });

  test("a call that fails fails for those that it was for, and no others", async () => {
    const act = together(async (asks: readonly string[]) => {
      await turn();
      if (asks.includes("bad")) throw new Error("refused");
      return asks;
    });
    const first = act("good");
    await Promise.resolve();
    const [bad, beside] = [act("bad"), act("beside")];

    await expect(bad).rejects.toThrow("refused");
    await expect(beside).rejects.toThrow("refused");
    expect(await first).toBe("good");
    expect(await act("later")).toBe("later");
  });
});

/** A remote in which some refs are taken, or missing. */
function remote(other: ReadonlySet<string>, calls: (readonly string[])[]) {
  return {
    git: async (args: readonly string[]) => {
      calls.push(args);
      const named = args.filter((one) => one.includes(":refs/")).map((one) => one.slice(one.indexOf(":") + 1));
      const is = named.find((ref) => other.has(ref));
      const said = args.includes("push")
        ? `! [rejected] x -> ${is} (stale info)`
        : `fatal: couldn't find remote ref ${is}`;
      return { exitCode: is === undefined ? 0 : 1, stdout: "", stderr: is === undefined ? "" : said };
    },
  };
}

const updates = ["refs/ralph/jobs/r.1", "refs/ralph/jobs/r.2", "refs/ralph/jobs/r.3"].map((ref) => ({
  ref,
  commit: "a".repeat(40),
  from: null,
}));

test("jobs are pushed in one call; one that another coordinator has pushed keeps none of the others back", async () => {
  const calls: (readonly string[])[] = [];
  expect(await pushEach(remote(new Set(), calls), updates)).toEqual([null, null, null]);
  expect(calls).toHaveLength(1);

  const answers = await pushEach(remote(new Set(["refs/ralph/jobs/r.2"]), calls), updates);
  expect(answers).toEqual([null, expect.stringContaining("stale info"), null]);
});

test("results are fetched in one call; one that is not there keeps none of the others back", async () => {
  const calls: (readonly string[])[] = [];
  const refs = updates.map(({ ref }) => ref);
  expect(await fetchEach(remote(new Set(), calls), refs)).toEqual([true, true, true]);
  expect(calls).toHaveLength(1);

  expect(await fetchEach(remote(new Set(["refs/ralph/jobs/r.3"]), calls), refs)).toEqual([true, true, false]);
});
