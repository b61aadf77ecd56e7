import { describe, expect, test } from "vitest";
import { feature, story } from "./feature_project.ts";

const WORK = '*US-001*) echo good > US-001.txt; git add -A; git commit -qm work; echo "<ralph>DONE</ralph>";;';

describe("a final verification that writes has verified nothing", () => {
  test.each([
    ["an untracked file", "echo x > hack"],
    ["a tracked file", "echo 'steal()' >> US-001.txt"],
    ["a commit of its own", "echo x > hack; git add hack; git commit -qm hack"],
  ])("%s: it is asked again, and nothing of it is in a commit of Ralph's", async (_what, writes) => {
    const agent = `*"Final Verification"*) [ $(count reviews) = 1 ] && { ${writes}; }; echo "<ralph>VERIFIED</ralph>";;
${WORK}`;

    const { stderr, git } = await feature(agent, [story("US-001")]).args("run", "auth", "--max-iterations", "2")
      .expectExit(1);

    expect(stderr).toContain("it changed files, which a review does not do: ");
    expect(stderr).toContain("exhausted: 1 verified");
    expect(git("log", "--format=%s")).not.toContain("final verification");
    expect(git("show", "HEAD:US-001.txt")).toBe("good");
  });

  test("if it writes each time, what it committed is kept out of the branch, and named", async () => {
    const agent =
      `*"Final Verification"*) echo x >> hack; git add -A; git commit -qm hack; echo "<ralph>VERIFIED</ralph>";;
${WORK}`;

    const { stderr, git } = await feature(agent, [story("US-001")]).args("run", "auth").expectExit(1);

    expect(stderr).toContain("no usable final verification");
    expect(stderr).toMatch(/left over {2}final-verification: what its turns left; `git diff HEAD\.\.\.refs/);
    expect(git("ls-tree", "--name-only", "HEAD")).not.toContain("hack");
    expect(git("status", "--porcelain")).toBe("");
  });

  test("what a first answer wrote is no part of what the second one accepts", async () => {
    const agent =
      `*"Final Verification"*) [ $(count reviews) = 1 ] && { echo x > hack; git add hack; git commit -qm hack; }
  echo "<ralph>VERIFIED</ralph>";;
${WORK}`;

    const { git } = await feature(agent, [story("US-001")]).args("run", "auth").expectExit(0);

    expect(git("ls-tree", "--name-only", "HEAD").split("\n")).not.toContain("hack");
    expect(git("status", "--porcelain")).toBe("");
    const ref = git("for-each-ref", "--format=%(refname)", "refs/ralph/work").trim();
    expect(git("ls-tree", "--name-only", ref).split("\n")).toContain("hack");
  });

  test("what it wrote before it sent a story back is in no commit of that story, and is kept", async () => {
    const agent =
      `*"Final Verification"*) if [ $(count reviews) = 1 ]; then echo 'steal()' >> US-001.txt; echo x > hack; echo "<ralph>RESET:US-001</ralph>"; else echo "<ralph>VERIFIED</ralph>"; fi;;
*US-001*) echo good >> US-001.txt; echo "<ralph>DONE</ralph>";;`;

    const { git, stderr } = await feature(agent, [story("US-001")]).args("run", "auth").expectExit(0);

    expect(git("show", "HEAD:US-001.txt")).toBe("good\ngood");
    expect(git("status", "--porcelain")).toBe("");
    expect(stderr).toMatch(/what the turns at final-verification left is kept as (refs\/ralph\/work\/\S+), and out of/);
    const ref = git("for-each-ref", "--format=%(refname)", "refs/ralph/work").trim();
    expect(git("show", `${ref}:US-001.txt`)).toBe("good\nsteal()");
  });

  test("the review is no story in the count, and a story that it blocks names --retry-blocked", async () => {
    const agent = `*"Final Verification"*) [ -f ../state/reset ] && echo "<ralph>VERIFIED</ralph>" ||
  echo "<ralph>RESET:US-001</ralph>";;
${WORK}`;
    const passing = `*"Final Verification"*) echo "<ralph>VERIFIED</ralph>";;\n${WORK}`;

    const passed = await feature(passing, [story("US-001")]).args("run", "auth").expectExit(0);
    const blocked = await feature(agent, [story("US-001")], { maxRetries: 1 }).args("run", "auth").expectExit(3);

    expect(passed.stderr).toContain("passed: 1 verified in 2 iterations\n  verified  US-001\n");
    expect(blocked.stderr).toContain("hint: fix the cause, then");
    expect(blocked.stderr).toContain("--retry-blocked");
  });
});
