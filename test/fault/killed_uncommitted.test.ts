import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { needs } from "../needs.ts";
import { gitIn } from "../repository.ts";
import { ralphCli } from "../e2e/cli.ts";
import { untilGone } from "./processes.ts";
import { faultProject, passedIn, WORK } from "./world.ts";

const DIRTY =
  "echo mine >> d/f.md; echo mine > d/new.md; echo mine > staged.md; git add staged.md; echo mine >> x.md; rm gone.md";
const FILES = { "d/f.md": "first\n", "x.md": "first\n", "gone.md": "first\n" };

/** Ralph is killed with SIGKILL when the turn has done this. */
async function killed(turn: string): Promise<string> {
  const project = faultProject(`cat > /dev/null; ${turn}; touch ../hit; sleep 300`);
  const running = project.cli.files(FILES).before(DIRTY).start();
  for (let round = 0; round < 1200 && !existsSync(join(running.root, "../hit")); round += 1) {
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  running.child.kill("SIGKILL");
  await running.ended();
  await untilGone(project.mark, 5000);
  return running.root;
}

describe("a person's uncommitted work after kill -9 of Ralph in a turn that", needs("a POSIX system"), () => {
  test.each([
    ["reverts it", "git reset -q --hard; git clean -qfd"],
    ["commits it", "git add -A; git commit -qm all"],
    ["puts a link in its folder's place", "git reset -q --hard; rm -rf d; mkdir ../out; ln -s ../out d"],
  ])("%s is restored when the run continues", async (_name, turn) => {
    const root = await killed(turn);

    const { stderr } = await ralphCli(root).agent("worker", WORK).args("run").expectExit(0);

    expect(stderr).toContain("US-001 was interrupted in attempt 1 and is taken up again\n");
    expect(stderr).toMatch(/uncommitted work, which was restored|it is uncommitted again/);
    expect(passedIn(root)).toEqual(["US-001"]);
    const git = gitIn(root);
    expect(git("status", "--porcelain").trim().split("\n").map((line) => line.trim()).sort()).toEqual([
      "?? d/new.md",
      "A  staged.md",
      "D gone.md",
      "M d/f.md",
      "M x.md",
    ]);
    expect(readFileSync(join(root, "d/f.md"), "utf8")).toBe("first\nmine\n");
    expect(git("log", "--format=", "--name-only")).not.toMatch(/new\.md|staged\.md/);
    expect(existsSync(join(root, "../out/new.md"))).toBe(false);
  });

  test("leaves it, and is committed by that person before the run continues, stays as it was committed", async () => {
    const root = await killed("true");
    const git = gitIn(root);
    appendFileSync(join(root, "x.md"), "more\n");
    git("commit", "-qm", "theirs", "--", "d/f.md", "x.md", "staged.md");

    const { stderr } = await ralphCli(root).agent("worker", WORK).args("run").expectExit(0);

    expect(stderr).not.toContain("was restored: d/f.md");
    expect(readFileSync(join(root, "x.md"), "utf8")).toBe("first\nmine\nmore\n");
    expect(git("status", "--porcelain", "d/f.md", "x.md", "staged.md")).toBe("");
  });
});
