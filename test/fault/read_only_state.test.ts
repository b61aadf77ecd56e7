import { chmodSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ralphCli } from "../e2e/cli.ts";
import { expectNothingLeft, faultProject, passedIn, prdText, stories, WORK } from "./world.ts";

const PRD = "scripts/ralph/prd.json";

describe("a state file that is read-only", () => {
  test("is not written around: the run ends, says so, and continues once it may be written", async () => {
    const project = faultProject(WORK);

    const { root, stderr, git } = await project.cli.before(`chmod 444 ${PRD}`).expectExit(1);

    expect(stderr).toMatch(/\nerror: could not write \[ROOT\]\/scripts\/ralph\/prd\.json: .+\nhint: .+\n$/);
    expect(readFileSync(join(root, PRD), "utf8")).toBe(prdText(stories(1)));
    expect(statSync(join(root, PRD)).mode & 0o777).toBe(0o444);
    expect(git("log", "--format=%s")).toBe("start");
    await expectNothingLeft(project, root);

    chmodSync(join(root, PRD), 0o644);
    const again = await ralphCli(root).agent("worker", "echo no turn is needed; exit 1").args("run").expectExit(0);
    expect(passedIn(root)).toEqual(["US-001"]);
    expect(again.git("status", "--porcelain")).toBe("");
    expect(again.git("log", "--format=%s").match(/^feat: /gm)).toHaveLength(1);
  });
});
