/** The wall clock set back by two hours in the middle of a run, by a library that the test compiles (Linux with a C compiler). */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { ralphCli } from "../e2e/cli.ts";
import { expectNothingLeft, faultProject, HANGS, passedIn, WORK } from "./world.ts";
import { needs } from "../needs.ts";

const SOURCE = join(dirname(fileURLToPath(import.meta.url)), "../fixtures/fault/clock_back.c");
const FOLDER = mkdtempSync(join(tmpdir(), "ralph-clock-"));
const LIBRARY = join(FOLDER, "clock_back.so");

afterAll(() => rmSync(FOLDER, { recursive: true, force: true }));

describe("a clock set back", () => {
  test(
    "in the middle of a run: it continues, no duration is below zero, and the next run finds its way",
    needs("Linux", "a C compiler"),
    async () => {
      expect(spawnSync("cc", ["-shared", "-fPIC", "-o", LIBRARY, SOURCE, "-ldl"]).status).toBe(0);
      const flag = join(FOLDER, "back");
      const project = faultProject(`${WORK}; [ "$n" = 2 ] && touch '${flag}'; sleep 0.1`, { count: 3 });
      const clock = { LD_PRELOAD: LIBRARY, CLOCK_BACK: flag };

      const { root, stderr, git } = await project.cli.env(clock).args("run", "--max-iterations", "2").expectExit(1);

      expect(stderr).not.toMatch(/\(-|NaN/);
      expect(passedIn(root)).toEqual(["US-001", "US-002"]);
      for (const line of eventsOf(root)) {
        expect((JSON.parse(line) as { durationMs?: number }).durationMs ?? 0)
          .toBeGreaterThanOrEqual(0);
      }
      const again = await ralphCli(root).agent("worker", WORK).args("run").expectExit(0);
      expect(passedIn(root)).toEqual(["US-001", "US-002", "US-003"]);
      expect(again.git("log", "--format=%s").match(/^feat: /gm)).toHaveLength(3);
      expect(git("status", "--porcelain")).toBe("");
      await expectNothingLeft(project, root);
    },
  );

  test("since the run that was killed: its lock is taken over all the same", async () => {
    const project = faultProject(HANGS);
    const first = project.cli.start();
    await first.wrote("../begun");
    first.child.kill("SIGKILL");
    await first.ended();
    const lock = join(first.root, ".git/ralph/run.lock");
    const later = new Date(Date.now() + 3_600_000);
    spawnSync("sed", ["-i", `s/"since":"[^"]*"/"since":"${later.toISOString()}"/`, lock]);
    spawnSync("sh", ["-c", `find .git scripts -exec touch -d @${Math.floor(later.getTime() / 1000)} {} +`], {
      cwd: first.root,
    });

    const { root } = await ralphCli(first.root).agent("worker", WORK).args("run").expectExit(0);

    expect(passedIn(root)).toEqual(["US-001"]);
    await expectNothingLeft(project, root);
  });
});

function eventsOf(root: string): readonly string[] {
  const found = spawnSync("sh", ["-c", "cat scripts/ralph/runs/*/events.ndjson"], { cwd: root, encoding: "utf8" });
  expect(readFileSync(join(root, "scripts/ralph/prd.json"), "utf8")).not.toBe("");
  return found.stdout.trimEnd().split("\n");
}
