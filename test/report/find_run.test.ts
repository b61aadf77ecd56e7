import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { findRun, type FoundRun } from "../../lib/report/make_report.ts";
import { runFolders } from "../../lib/workflows/table.ts";

function project(...folders: readonly string[]): string {
  const root = mkdtempSync(join(tmpdir(), "ralph-runs-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const folder of folders) {
    mkdirSync(join(root, folder), { recursive: true });
    writeFileSync(join(root, folder, "events.ndjson"), "");
  }
  return root;
}

async function find(root: string, cwd: string, named: string | undefined): Promise<FoundRun> {
  return await findRun({ root, cwd, folders: await runFolders(root) }, named);
}

const EXEC = "scripts/ralph/runs/20260101-000000-aaaa";
const FEATURE = ".ralph/runs/20260103-000000-bbbb";
const SPRINT = ".claude/sprints/one/logs/20260102-000000-cccc";

describe("findRun()", () => {
  test("takes the newest run of all workflows", async () => {
    const root = project(EXEC, FEATURE, SPRINT, ".ralph/runs/zzzz");

    expect(await find(root, root, undefined)).toMatchObject({ folder: join(root, FEATURE), newest: true });
  });

  test.each([
    ["its id", "20260102-000000-cccc"],
    ["the path of its folder", SPRINT],
    ["the path of its events", `${SPRINT}/events.ndjson`],
    ["a folder that holds runs", ".claude/sprints/one/logs"],
    ["a sprint", ".claude/sprints/one"],
  ])("takes a run by %s", async (_what, named) => {
    const root = project(EXEC, FEATURE, SPRINT);

    expect(await find(root, root, named)).toMatchObject({ id: "20260102-000000-cccc", newest: false });
  });

  test("a run outside the root is found by its path", async () => {
    const [root, other] = [project(EXEC), project("somewhere/copied")];

    expect(await find(root, other, "somewhere/copied")).toMatchObject({ id: "copied", newest: false });
  });

  test("says which runs there are when a name fits none", async () => {
    const root = project(EXEC, FEATURE);

    await expect(find(root, root, "20260103-000000-bbbc")).rejects.toMatchObject({
      hint: "did you mean `ralph report 20260103-000000-bbbb`?",
    });
    await expect(find(root, root, "nothing")).rejects.toMatchObject({
      message: "nothing is neither a run's id nor the folder of one",
      hint: "the last runs: 20260103-000000-bbbb, 20260101-000000-aaaa",
    });
  });
});
