import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ralphCli } from "../e2e/cli.ts";
import { expectNothingLeft, faultProject, passedIn, prdText, stories, WORK } from "./world.ts";

const PRD = "scripts/ralph/prd.json";
/** Each does its mischief in the first turn alone, without doing the work. */
const MISCHIEF: readonly (readonly [what: string, script: string])[] = [
  ["truncates the state file", `head -c 40 ${PRD} > ignored/half; cat ignored/half > ${PRD}`],
  ["empties the state file", `: > ${PRD}`],
  ["deletes the state file", `rm ${PRD}`],
  ["deletes the folder of the state file", "rm -rf scripts; true"],
  ["rewrites the state file with all stories passed", `sed -i 's/false/true/' ${PRD}`],
  ["rewrites the state file with other stories", `echo '{"branchName":"main","userStories":[]}' > ${PRD}`],
];

describe("an agent", () => {
  test.each(MISCHIEF)("that %s has it put back, and passes nothing by it", async (_what, mischief) => {
    const project = faultProject(
      `if [ -f ignored/once ]; then ${WORK}; else cat > /dev/null; mkdir -p ignored; touch ignored/once; ${mischief}; fi`,
      {
        count: 2,
      },
    );

    const { root, git, stderr } = await project.cli.expectExit(0);

    expect(stderr).toContain(`  warning: restored, edited manually: ${PRD}\n`);
    expect(stderr).toContain("story US-001: not done");
    expect(passedIn(root)).toEqual(["US-001", "US-002"]);
    expect(git("show", `HEAD:${PRD}`)).toBe(prdText(stories(2).map((story) => ({ ...story, passes: true }))).trimEnd());
    expect(git("status", "--porcelain")).toBe("");
    expect(git("ls-tree", "-r", "HEAD", PRD)).toMatch(/^100644 blob/);
    await expectNothingLeft(project, root);
  });

  test("that puts a folder in the state file's place: the file is restored, and the folder is kept", async () => {
    const project = faultProject(`cat > /dev/null; rm ${PRD}; mkdir ${PRD}; echo theirs > ${PRD}/x`);

    const { root, stderr } = await project.cli.expectExit(3);

    expect(stderr).toContain(`warning: restored, edited manually: ${PRD}\n`);
    const kept = readdirSync(join(root, ".git/ralph"), { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith("/x") && readFileSync(join(root, ".git/ralph", path), "utf8") === "theirs\n");
    expect(kept.map((path) => readFileSync(join(root, ".git/ralph", path), "utf8"))).toEqual([
      "theirs\n",
      "theirs\n",
      "theirs\n",
    ]);

    const again = await ralphCli(root).agent("worker", WORK).args("run", "--retry-blocked").expectExit(0);
    expect(again.stderr).not.toContain("edited manually");
    expect(passedIn(root)).toEqual(["US-001"]);
  });

  test.each([["deletes", `rm ${PRD}`], ["truncates", `: > ${PRD}`]])(
    "that %s the state file before Ralph is killed: the next run puts it back",
    async (_what, mischief) => {
      const project = faultProject(`cat > /dev/null; ${mischief}; sleep 300`);
      const running = project.cli.start();
      await running.shows("agent worker: started");
      for (
        let round = 0;
        round < 400 && existsSync(join(running.root, PRD)) && statSync(join(running.root, PRD)).size > 0;
        round += 1
      ) {
        await new Promise((resolve) => setTimeout(resolve, 25));
      }
      running.child.kill("SIGKILL");
      await running.ended();

      const { root, stderr } = await ralphCli(running.root).agent("worker", WORK).args("run").expectExit(0);

      expect(stderr).toContain(
        `warning: restored, edited manually: ${PRD}\nUS-001 was interrupted in attempt 1\n`,
      );
      expect(passedIn(root)).toEqual(["US-001"]);
      await expectNothingLeft(project, root);
    },
  );

  test("that deletes .git/index has it made anew", async () => {
    const project = faultProject(`${WORK}; rm -f .git/index`, { count: 2 });

    const { root, git } = await project.cli.expectExit(0);

    expect(passedIn(root)).toEqual(["US-001", "US-002"]);
    expect(git("log", "--format=%s").match(/^feat: /gm)).toHaveLength(2);
    expect(git("status", "--porcelain")).toBe("");
    await expectNothingLeft(project, root);
  });

  test("that deletes Ralph's own folder in the git directory loses no story", async () => {
    const project = faultProject(`${WORK}; rm -rf .git/ralph`, {
      count: 2,
      config: { sandbox: { mode: "off" } }, // a sandbox keeps it out of reach
    });

    const { root, git } = await project.cli.expectExit(0);

    expect(passedIn(root)).toEqual(["US-001", "US-002"]);
    expect(git("log", "--format=%s").match(/^feat: /gm)).toHaveLength(2);
  });
});
