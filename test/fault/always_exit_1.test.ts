import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { expectNothingLeft, faultProject, passedIn, WORK } from "./world.ts";

describe("an agent that always exits 1", () => {
  test("is parked after three attempts, and ends the run where nothing moves", async () => {
    const project = faultProject("cat > /dev/null; echo no credits left >&2; exit 1", { count: 2 });

    const { root, git, stderr } = await project.cli.expectExit(1);

    expect(passedIn(root)).toEqual([]);
    expect(stderr.match(/agent worker: started/g)).toHaveLength(5);
    expect(stderr).toContain("\n▲ exhausted: 0 verified, 1 parked in 5 iterations\n");
    expect(stderr).toMatch(/\n  parked  US-001: .*exit(ed with)? (code )?1.*\n/);
    expect(stderr).toContain("\n  limit reached: 5 turns without a change\n");
    expect(readFileSync(join(root, "scripts/ralph/prd.json"), "utf8")).toContain("no credits left");
    expect(git("log", "--format=%s")).not.toContain("feat:");
    await expectNothingLeft(project, root);
  });

  test("passes nothing even where its work is right", async () => {
    const project = faultProject(`${WORK}; echo '<promise>COMPLETE</promise>'; exit 1`);

    const { root, git } = await project.cli.expectExit(3);

    expect(passedIn(root)).toEqual([]);
    expect(git("log", "--format=%s")).not.toContain("feat:");
    expect(git("status", "--porcelain", "--untracked-files=all"), "the run's state is committed").toBe("");
    expect(git("for-each-ref", "--format=%(refname)", "refs/ralph/work/"), "what it left is kept").not.toBe("");
  });
});
