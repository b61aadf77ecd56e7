import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { faultProject, passedIn, WORK } from "./world.ts";

const DIRTY =
  "echo mine >> tracked.txt; echo mine > new.txt; echo staged > staged.txt; git add staged.txt; git rm -q --cached gone.txt; git mv old.txt moved.txt";

describe("a dirty tree", () => {
  test("is worked in, and what was dirty is neither changed nor committed", async () => {
    const project = faultProject(WORK, { count: 2 });
    const files = { "tracked.txt": "theirs\n", "gone.txt": "kept\n", "old.txt": "to be moved\n" };

    const { root, git } = await project.cli.files(files).before(DIRTY).before(
      "git status --porcelain > ../before; git diff HEAD > ../diff",
    ).expectExit(0);

    expect(passedIn(root)).toEqual(["US-001", "US-002"]);
    expect(git("status", "--porcelain")).toBe(readFileSync(`${root}/../before`, "utf8").trim());
    expect(git("diff", "HEAD")).toBe(readFileSync(`${root}/../diff`, "utf8").trim());
    expect(git("log", "--format=", "--name-only", "HEAD~2..HEAD").split("\n").filter(Boolean).sort()).toEqual([
      "scripts/ralph/prd.json",
      "scripts/ralph/prd.json",
      "scripts/ralph/progress.txt",
      "scripts/ralph/progress.txt",
      "work/1.txt",
      "work/2.txt",
    ]);
  });

  const BEFORE = ["the checks run before the first turn", "echo > ../ready; sleep 1"] as const;
  const BETWEEN = ["a check runs between two turns", "test ! -e work/1.txt || { echo > ../ready; sleep 1; }"] as const;
  const LANES = ["--parallel", "2", "--any-order"];
  test.each([
    [...BEFORE, []],
    [...BETWEEN, []],
    [...BEFORE, LANES], // between two turns no check runs in the project's tree
  ])("a judge that a person edits while %s costs no turn an attempt: %s, %j", async (_, check, flags) => {
    const config = { verify: { default: [check], baseline: true } };
    const running = faultProject(WORK, { count: 2, config }).cli.args("run", ...flags).start();
    await running.wrote("../ready");
    const file = join(running.root, "ralph.config.json");
    const edited = readFileSync(file, "utf8").replace("{", '{ "ui": "plain",');
    writeFileSync(file, edited);

    const { exitCode, root, stderr } = await running.ended();

    expect(exitCode, stderr).toBe(0);
    expect(passedIn(root)).toEqual(["US-001", "US-002"]);
    expect(stderr.match(/restored as the run began with it: ralph\.config\.json/g)).toHaveLength(1);
    expect(stderr).not.toContain("a hook of git");
    expect(stderr).not.toContain("changed protected files");
    expect(stderr).not.toContain("(attempt 2, ");
  });

  test("a file of the user's that changes while a turn runs is named and not committed: the run has not passed", async () => {
    const project = faultProject(`${WORK}; echo agent >> tracked.txt`);

    const { stderr, git, read } = await project.cli.files({ "tracked.txt": "theirs\n" }).dirty({
      "tracked.txt": "theirs\nmine\n",
    }).expectExit(1);

    expect(stderr).toMatch(/warning: changed while the turn ran, by it or a person, and not committed: tracked.txt \(/);
    expect(stderr).toContain("not committed  tracked.txt: changed by a turn or a person");
    expect(read("tracked.txt")).toBe("theirs\nmine\nagent\n");
    expect(git("show", "HEAD:tracked.txt")).toBe("theirs");
  });
});
