import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { expectNothingLeft, faultProject, WORK } from "./world.ts";

describe("a git without an identity", () => {
  test("is told before any agent starts", async () => {
    const project = faultProject(WORK);

    const { root, stderr, git } = await project.cli.without("identity").expectExit(2);

    expect(stderr).toMatch(
      /\nerror: git has no author configured: .+\nhint: run `git config user\.name "…"` and `git config user\.email "…"`\n$/,
    );
    expect(existsSync(join(root, "work"))).toBe(false);
    expect(git("status", "--porcelain")).toBe("");
    await expectNothingLeft(project, root);
  });

  test("but with one in the environment continues", async () => {
    const identity = {
      GIT_AUTHOR_NAME: "E",
      GIT_AUTHOR_EMAIL: "e@example.com",
      GIT_COMMITTER_NAME: "E",
      GIT_COMMITTER_EMAIL: "e@example.com",
    };
    const project = faultProject(WORK);

    const { git } = await project.cli.without("identity").env(identity).expectExit(0);

    expect(git("log", "-1", "--format=%an")).toBe("E");
  });
});
