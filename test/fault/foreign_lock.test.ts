import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ralphCli } from "../e2e/cli.ts";
import { faultProject, passedIn, WORK } from "./world.ts";

describe("a stale index.lock of somebody else", () => {
  test("is waited for, named, and never removed", async () => {
    const project = faultProject(WORK);

    const { root, stderr } = await project.cli.before("touch .git/index.lock").expectExit(1);

    expect(stderr).toBe(
      "workflow exec (scripts/ralph exists)\nerror: [ROOT]/.git/index.lock is held by another git process\n" +
        "hint: wait for it to end; remove the file only when no git process is running\n",
    );
    expect(existsSync(join(root, ".git/index.lock"))).toBe(true);
    expect(existsSync(join(root, "work"))).toBe(false);
  });

  test("that goes away in time is no trouble", async () => {
    const project = faultProject(WORK);

    const { root } = await project.cli.before("touch .git/index.lock; (sleep 1.5; rm .git/index.lock) > /dev/null 2>&1 &").expectExit(0);

    expect(passedIn(root)).toEqual(["US-001"]);
  });

  test("that comes in the middle of a run stops it, and the next one goes on without another turn", async () => {
    const project = faultProject(`${WORK}; touch .git/index.lock`);

    const { root, stderr } = await project.cli.expectExit(1);

    expect(stderr).toMatch(/\nerror: \[ROOT\]\/\.git\/index\.lock is held by another git process\n/);
    rmSync(join(root, ".git/index.lock"));
    const again = await ralphCli(root).agent("worker", "echo no turn is needed; exit 1").args("run").expectExit(0);
    expect(passedIn(root)).toEqual(["US-001"]);
    expect(again.git("log", "--format=%s").match(/^feat: US-001/gm)).toHaveLength(1);
    expect(again.git("status", "--porcelain")).toBe("");
  });
});
