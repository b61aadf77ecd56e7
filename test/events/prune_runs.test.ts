import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { pruneRuns } from "../../lib/events/known_runs.ts";
import { temporaryDirectory } from "../../lib/host/files.ts";
import { testContext } from "../../lib/testing/test_context.ts";

const OWN = "20261122-120000-own0";

async function runs(folder: string, names: readonly string[]): Promise<void> {
  for (const name of names) {
    await mkdir(join(folder, name), { recursive: true });
    await writeFile(join(folder, name, "events.ndjson"), "{}\n");
  }
}

describe("pruneRuns()", () => {
  test.each([
    [3, ["20261120-000000-aaaa", "20261121-000000-bbbb"]],
    [1, ["20261120-000000-aaaa", "20261121-000000-bbbb", "20261121-000001-cccc", "20261122-000000-dddd"]],
    [20, []],
  ])("keeps %d, the newest and its own", async (keep, taken) => {
    await using folder = await temporaryDirectory("ralph-prune-");
    const names = ["20261122-000000-dddd", "20261120-000000-aaaa", "20261121-000001-cccc", "20261121-000000-bbbb", OWN];
    await runs(folder.path, names);

    expect(await pruneRuns(folder.path, keep, OWN)).toEqual(taken);
    expect((await readdir(folder.path)).toSorted()).toEqual(names.filter((name) => !taken.includes(name)).toSorted());
  });

  test("leaves alone what is no run's folder", async () => {
    await using folder = await temporaryDirectory("ralph-prune-");
    await runs(folder.path, ["notes", "20261122-000000", "latest"]);

    expect(await pruneRuns(folder.path, 1, OWN)).toEqual([]);
  });

  test("is called when a run makes its folder", async () => {
    await using ralph = await testContext({ config: { logs: { keep: 2 } } });
    await runs(join(ralph.root, ".ralph/runs"), ["20200101-000000-aaaa", "20200102-000000-bbbb"]);

    await ralph.run.folder(".ralph/runs");

    const left = (await readdir(join(ralph.root, ".ralph/runs"))).toSorted();
    expect(left.filter((name) => name !== ".gitignore")).toEqual(["20200102-000000-bbbb", ralph.run.id]);
  });
});
