/** `limits.minutes` is over while an agent is at work. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ralphCli } from "../e2e/cli.ts";
import { expectNothingLeft, faultProject, passedIn, WORK } from "./world.ts";

/** It writes a file for the item, and does not end by itself. */
const HALF = 'mkdir -p work; echo half > "work/half-$RALPH_ITEM.txt"; sleep 300';
const LIMITS = { limits: { minutes: 0.05 } };

describe("a run whose time is up while a turn runs", () => {
  test("ends the turn, counts no attempt, and leaves its work to the next run", async () => {
    const project = faultProject(HALF, { config: LIMITS });

    const { root, stderr } = await project.cli.expectExit(1);

    expect(stderr).toContain("\n▲ exhausted: 0 verified in 1 iteration\n");
    expect(stderr).toContain("\n  limit reached: 0.05 minutes: the agent was still at work\n");
    expect(stderr).not.toContain("final-check");
    expect(readFileSync(join(root, "work/half-US-001.txt"), "utf8")).toBe("half\n");
    expect(passedIn(root)).toEqual([]);
    await expectNothingLeft(project, root);

    const next = await ralphCli(root).agent("worker", WORK).args("run", "--max-iterations", "9").expectExit(0);
    expect(next.stderr).toContain("(attempt 1, ");
    expect(next.git("show", "HEAD:work/half-US-001.txt")).toBe("half");
    expect(passedIn(root)).toEqual(["US-001"]);
  });

  test("leaves finished work, which passes by its checks where no claim is needed", async () => {
    const config = { ...LIMITS, provider: { command: "worker", claims: "optional" } };
    const project = faultProject("mkdir -p work; echo done > work/1.txt; sleep 300", { config });

    const { root } = await project.cli.expectExit(1);
    const next = await ralphCli(root).agent("worker", "cat > /dev/null").args("run").expectExit(0);

    expect(next.stderr).toContain("story US-001: verified");
    expect(passedIn(root)).toEqual(["US-001"]);
  });

  test("ends the turns of all lanes, and keeps the work of each", async () => {
    const project = faultProject(HALF, { config: LIMITS, count: 2 });

    const { root, stderr } = await project.cli.args("run", "--parallel", "2", "--any-order").expectExit(1);

    expect(stderr).toContain("\n  limit reached: 0.05 minutes");
    await expectNothingLeft(project, root);

    const next = await ralphCli(root).agent("worker", WORK).args("run", "--parallel", "2", "--any-order").expectExit(0);
    expect(passedIn(root)).toEqual(["US-001", "US-002"]);
    for (const id of ["US-001", "US-002"]) expect(next.git("show", `HEAD:work/half-${id}.txt`)).toBe("half");
  });
});
