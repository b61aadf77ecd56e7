import { describe, expect, test } from "vitest";
import { expectNothingLeft, faultProject, passedIn, WORK } from "./world.ts";

describe("a child that holds stdout after the agent ended", () => {
  test("is ended, and the run continues at once", async () => {
    const project = faultProject(`${WORK}; sleep 300 & setsid sleep 300 & echo left two behind`, { count: 2 });
    const started = performance.now();

    const { root, git, stderr } = await project.cli.expectExit(0);

    expect(performance.now() - started).toBeLessThan(20_000);
    expect(passedIn(root)).toEqual(["US-001", "US-002"]);
    expect(stderr).toMatch(/\n✓ passed: 2 verified in 2 iterations\n  verified  US-001, US-002\n/);
    expect(git("status", "--porcelain")).toBe("");
    await expectNothingLeft(project, root);
  });

  test("of a check is ended too", async () => {
    const check = "Verify: `grep -qx done work/1.txt && (sleep 300 & setsid sleep 300 &)`";
    const prd = JSON.stringify({
      branchName: "main",
      userStories: [{
        id: "US-001",
        title: "Write 1",
        acceptanceCriteria: [check],
        priority: 1,
        passes: false,
        notes: "",
      }],
    });
    const project = faultProject(WORK, { prd });

    const { root } = await project.cli.expectExit(0);

    expect(passedIn(root)).toEqual(["US-001"]);
    await expectNothingLeft(project, root);
  });
});
