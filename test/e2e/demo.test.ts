import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, describe, expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "../..");
const temporary = mkdtempSync(join(tmpdir(), "ralph-demo-test-"));
afterAll(() => rmSync(temporary, { recursive: true, force: true }));

function demo(...arguments_: readonly string[]) {
  const program = process.env["RALPH_BIN"] ?? join(ROOT, "node_modules/.bin/bun");
  const script = process.env["RALPH_BIN"] === undefined ? [join(ROOT, "bin/ralph.ts")] : [];
  return spawnSync(program, [...script, "demo", ...arguments_], {
    encoding: "utf8",
    env: { ...process.env, TMPDIR: temporary, NO_COLOR: "1" },
    timeout: 150_000,
    stdio: ["ignore", "pipe", "pipe"],
  });
}

describe("ralph demo", () => {
  test("ralph demo --approve all takes the project to verified, committed code and leaves it there", () => {
    const end = demo("--approve", "all");

    expect(end.status, end.stderr).toBe(0);
    const root = /^ {2}cd (\/.*ralph-demo-.*)$/m.exec(end.stderr)?.[1] ?? "";
    expect(existsSync(root)).toBe(true);
    expect(execFileSync("git", ["log", "--format=%s"], { cwd: root, encoding: "utf8" }).trim().split("\n").reverse())
      .toEqual([
        "A to-do list, with tests for commands that no one has written yet",
        "ralph init",
        "ralph: plan approved",
        "ralph: understood How the list is stored",
        "ralph: understood How the tests work",
        "feat: US-001 - Add items",
        "feat: US-002 - Tick items off",
        "feat: US-003 - Count what is left",
      ]);
    const prd = JSON.parse(readFileSync(join(root, "scripts/ralph/prd.json"), "utf8"));
    expect(prd.userStories.map((story: { passes: boolean }) => story.passes)).toEqual([true, true, true]);
    expect(spawnSync("sh", ["test.sh"], { cwd: root }).status).toBe(0);
    expect(end.stderr).toContain("✗ US-002      attempt 1  sh test.sh done  failed");
    expect(end.stderr).toContain("✓ US-002      attempt 2  sh test.sh done");
  });

  test("ralph demo writes no code when only the PRD is approved", () => {
    const end = demo("--approve", "prd");

    expect(end.status, end.stderr).toBe(0);
    expect(end.stderr).toContain("? Start `ralph run` now? no (default)");
    expect(end.stderr).not.toContain("feat:");
    expect(end.stderr).toContain("Without a yes no code is written");
  });

  test("ralph demo without a terminal says how it runs by itself", () => {
    const end = demo();

    expect(end.status).toBe(2);
    expect(end.stderr).toContain("hint: run it in a terminal, or let it run by itself: `ralph demo --approve all`");
  });
});
