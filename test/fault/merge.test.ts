import { describe, expect, test } from "vitest";
import { faultProject, WORK } from "./world.ts";

const BRANCHES =
  "git checkout -q -b other; echo theirs > .gitignore; git commit -qam theirs; git checkout -q main; echo ours > .gitignore; git commit -qam ours";
const OPERATIONS: readonly (readonly [operation: string, command: string])[] = [
  ["merge", `${BRANCHES}; git merge -q other`],
  ["rebase", `${BRANCHES}; git rebase -q other`],
  ["cherry-pick", `${BRANCHES}; git cherry-pick other`],
  ["revert", `${BRANCHES}; echo more > .gitignore; git commit -qam more; git revert --no-edit HEAD~1`],
  ["bisect", "git bisect start"],
];

describe("an operation in progress", () => {
  test.each(OPERATIONS)("%s is refused at the start and left as it is", async (operation, command) => {
    const project = faultProject(WORK);
    let before = "";

    const { root, stderr, git } = await project.cli.before(command).before("git status --porcelain=2 > ../before")
      .expectExit(2);

    before = git("status", "--porcelain=2");
    expect(stderr).toBe(
      `workflow exec (scripts/ralph exists)\nagent worker (ralph.config.json)\nerror: a ${operation} is in progress in [ROOT]\nhint: finish or abort it, then start Ralph again\n`,
    );
    expect(before).toBe((await import("node:fs")).readFileSync(`${root}/../before`, "utf8").trimEnd());
  });
});
