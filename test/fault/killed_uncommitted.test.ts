import { spawnSync } from "node:child_process";
import { appendFileSync, existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { needs } from "../needs.ts";
import { gitIn } from "../repository.ts";
import { ralphCli } from "../e2e/cli.ts";
import { untilGone } from "./processes.ts";
import { faultProject, passedIn, prdText, stories, WORK } from "./world.ts";

const DIRTY =
  "echo mine >> d/f.md; echo mine > d/new.md; echo mine > staged.md; git add staged.md; echo mine >> x.md; rm gone.md";
const FILES = { "d/f.md": "first\n", "x.md": "first\n", "gone.md": "first\n" };

/** Ralph is killed with SIGKILL when the turn has done this. */
async function killed(turn: string, dirty = DIRTY): Promise<string> {
  return await killedAtHit(`cat > /dev/null; ${turn}; touch ../hit; sleep 300`, dirty);
}

async function killedAtHit(
  script: string,
  dirty: string,
  options: Parameters<typeof faultProject>[1] = {},
): Promise<string> {
  const project = faultProject(script, options);
  const running = project.cli.files(FILES).before(dirty).start();
  for (let round = 0; round < 1200 && !existsSync(join(running.root, "../hit")); round += 1) {
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  running.child.kill("SIGKILL");
  await running.ended();
  await untilGone(project.mark, 5000);
  return running.root;
}

/** Resolves once the watchdog has said that all is over. */
async function touched(lock: string): Promise<void> {
  const begun = statSync(lock).mtimeMs;
  for (let round = 0; round < 200 && statSync(lock).mtimeMs === begun; round += 1) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

describe("a person's uncommitted work after kill -9 of Ralph in a turn that", needs("a POSIX system"), () => {
  test.each([
    ["reverts it", "git reset -q --hard; git clean -qfd"],
    ["commits it", "git add -A; git commit -qm all"],
    ["puts a link in its folder's place", "git reset -q --hard; rm -rf d; mkdir ../out; ln -s ../out d"],
  ])("%s is restored when the run continues", async (_name, turn) => {
    const root = await killed(turn);

    const { stderr } = await ralphCli(root).agent("worker", WORK).args("run").expectExit(0);

    expect(stderr).toContain("US-001 was interrupted in attempt 1\n");
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

  test.each([
    ["checks it out", "git update-index --no-skip-worktree x.md; git checkout -q x.md"],
    ["commits it", "git update-index --no-skip-worktree x.md; git commit -qam all"],
    ["only takes the flag away", "git update-index --no-skip-worktree x.md"],
    ["leaves it alone", "true"],
  ])("%s, where an index flag hides it, is there and hidden when the run continues", async (_name, turn) => {
    const root = await killed(turn, "echo SECRET >> x.md; git update-index --skip-worktree x.md");

    await ralphCli(root).agent("worker", WORK).args("run").expectExit(0);

    const git = gitIn(root);
    expect(readFileSync(join(root, "x.md"), "utf8")).toBe("first\nSECRET\n");
    expect(git("ls-files", "-v", "x.md")).toBe("S x.md\n");
    expect(git("status", "--porcelain")).toBe("");
    expect(git("log", "-p", "--format=")).not.toContain("SECRET");
  });

  test.each([
    ["unstages it", "git reset -q"],
    ["commits it", "git commit -qm all"],
    ["stages all", "git add -A"],
  ])("%s, where it is staged and differs from the file, is staged when the run continues", async (_name, turn) => {
    const root = await killed(turn, "echo STAGED >> x.md; git add x.md; echo mine > x.md; git rm -q --cached gone.md");

    await ralphCli(root).agent("worker", WORK).args("run").expectExit(0);

    const git = gitIn(root);
    expect(git("show", ":x.md")).toBe("first\nSTAGED\n");
    expect(git("status", "--porcelain").trim().split("\n")).toEqual(["D  gone.md", "MM x.md", "?? gone.md"]);
    expect(git("log", "-p", "--format=")).not.toMatch(/STAGED|deleted file/);
  });

  test("leaves it, where an index flag hides it, stays as that person changes it before the run continues", async () => {
    const root = await killed("true", "echo SECRET >> x.md; git update-index --skip-worktree x.md");
    appendFileSync(join(root, "x.md"), "more\n");

    await ralphCli(root).agent("worker", WORK).args("run").expectExit(0);

    expect(readFileSync(join(root, "x.md"), "utf8")).toBe("first\nSECRET\nmore\n");
  });

  test("removes that person's branch and stash keeps both, and names them when the run continues", async () => {
    const root = await killed(
      "git branch -qD side; git stash drop -q",
      "git switch -qc side; git commit -qm side --allow-empty; git switch -q -; echo mine >> x.md; git stash -q",
    );

    const { stderr } = await ralphCli(root).agent("worker", WORK).args("run").expectExit(0);

    const git = gitIn(root);
    expect(stderr).toMatch(/since the turn in which Ralph was stopped, side was removed: kept as refs\/ralph\/lost\//);
    expect(git("for-each-ref", "--format=%(contents:subject)", "refs/ralph/lost")).toContain("side\n");
    expect(git("for-each-ref", "refs/ralph/held")).toBe("");
    expect(git("stash", "list").trim().split("\n")).toHaveLength(1);
    expect(passedIn(root)).toEqual(["US-001"]);
  });

  test.each([
    ["writes over it", "echo TURN > x.md"],
    ["comes after one that has written over it", "[ -e ../once ] || { touch ../once; echo TURN > x.md; exit; }"],
  ])("%s fails the run that continues, which says how to get it back", async (_name, turn) => {
    const root = await killed(turn);
    const git = gitIn(root);
    const ref = git("for-each-ref", "--format=%(refname)", "refs/ralph/kept").split("\n")[0];

    const { stderr } = await ralphCli(root).agent("worker", WORK).args("run").expectExit(1);

    const way = "`git show refs/ralph/kept/[RUN]:x.md` prints it as the run found it";
    expect(stderr).toContain(`by it or a person, and not committed: x.md (${way})`);
    expect(stderr).toContain(`not committed  x.md: changed by a turn or a person (${way})\n`);
    expect(git("show", `${ref}:x.md`)).toBe("first\nmine\n");
    expect(passedIn(root)).toEqual(["US-001"]);
    await ralphCli(root).agent("worker", WORK).args("run").expectExit(1); // nothing has changed
    git("commit", "-qam", "both");
    await ralphCli(root).agent("worker", WORK).args("run").expectExit(0);
  });

  test("is followed by a person's own removal and move, has them named as what counts as the story's", async () => {
    const root = await killed("mkdir -p work; echo half > work/half.txt", "true");
    await touched(join(root, ".git/ralph/run.lock"));
    rmSync(join(root, "gone.md"));
    renameSync(join(root, "x.md"), join(root, "moved.md"));

    const { stderr } = await ralphCli(root).agent("worker", WORK).args("run").expectExit(0);

    expect(stderr).toMatch(/left over {2}gone\.md, x\.md, moved\.md: not committed when this run began/);
  });

  test("leaves half of its work, and is followed by a person's, leaves that one's work out of the story's", async () => {
    const root = await killed("mkdir -p work; echo half | tee work/half.txt work/theirs.txt", "true");
    await touched(join(root, ".git/ralph/run.lock"));
    writeFileSync(join(root, "notes.md"), "mine\n");
    appendFileSync(join(root, "work/theirs.txt"), "more\n");

    await ralphCli(root).agent("worker", WORK).args("run").expectExit(0);

    const git = gitIn(root);
    expect(git("status", "--porcelain").trim().split("\n")).toEqual(["?? notes.md", "?? work/theirs.txt"]);
    expect(git("show", "HEAD:work/half.txt")).toBe("half\n");
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

test(
  "a branch that a person switches to after a kill in a hook is no place of that run",
  needs("a POSIX system"),
  async () => {
    const body = "[ -e ../hit ] && exit; touch ../hit; sleep 300";
    const hook = `echo '${body}' > .git/hooks/post-commit; chmod +x .git/hooks/post-commit`;
    const prd = prdText(stories(1), "ralph/x");
    const root = await killedAtHit(WORK, hook, { prd });
    const git = gitIn(root);
    git("switch", "-q", "main");

    const { stderr } = await ralphCli(root).agent("worker", WORK).args("run").expectExit(0);

    expect(stderr).not.toContain("edited manually");
    expect(passedIn(root)).toEqual(["US-001"]);
  },
);

test("a half-written state file of a killed Ralph is gone after a run that has nothing to do", async () => {
  const { root } = await faultProject(WORK).cli.expectExit(0);
  const { pid } = spawnSync("true");
  const half = join(root, `scripts/ralph/.prd.json.${pid}-0123abcd.ralph-tmp`);
  writeFileSync(half, "{");

  await ralphCli(root).agent("worker", WORK).args("run").expectExit(0);

  expect(existsSync(half)).toBe(false);
});

test(
  "a branch that a person moves onto a killed turn's commit stays, and is named",
  needs("a POSIX system"),
  async () => {
    const root = await killed("git add -A; git commit -q --allow-empty -m own", "git branch base");
    const git = gitIn(root);
    git("branch", "--force", "base", "HEAD");
    const moved = git("rev-parse", "base");

    const { stderr } = await ralphCli(root).agent("worker", WORK).args("run").expectExit(0);

    expect(git("rev-parse", "base")).toBe(moved);
    expect(stderr).toContain(`warning: the branch base is at a turn's own commit`);
  },
);

/** The first commit takes long. */
const SLOW_COMMIT =
  "mkdir -p .git/hooks; printf '#!/bin/sh\n[ -e ../hit ] || { touch ../hit; sleep 300; }\n' > .git/hooks/pre-commit; " +
  "chmod +x .git/hooks/pre-commit";

test(
  "a story's work that is committed after a kill in its commit is no person's",
  needs("a POSIX system"),
  async () => {
    const work = `echo x >> common.txt; ${WORK}`;
    const root = await killedAtHit(work, SLOW_COMMIT, { count: 2 });
    rmSync(join(root, ".git/index.lock"), { force: true });

    await ralphCli(root).agent("worker", work).args("run").expectExit(0);

    expect(gitIn(root)("show", "HEAD:common.txt")).toBe("x\nx\n");
    expect(gitIn(root)("status", "--porcelain")).toBe("");
  },
);

test("half of a story that a kill left is taken up by its worker", needs("a POSIX system"), async () => {
  const root = await killedAtHit("cat > /dev/null; echo half > half.txt; touch ../hit; sleep 300", "true", {
    count: 2,
  });
  const work = `[ "$RALPH_ITEM" = US-002 ] || echo whole >> half.txt; ${WORK}`;

  await ralphCli(root).agent("worker", work).args("run", "--parallel", "2").expectExit(0);

  expect(gitIn(root)("show", "HEAD:half.txt")).toBe("half\nwhole\n");
  expect(gitIn(root)("status", "--porcelain")).toBe("");
});

test("no story passes whose work a person took away after a kill in its commit", needs("a POSIX system"), async () => {
  const root = await killedAtHit(WORK, SLOW_COMMIT);
  const git = gitIn(root);
  rmSync(join(root, ".git/index.lock"), { force: true });
  git("checkout", "--quiet", ".");
  git("reset", "--quiet");
  rmSync(join(root, "work"), { recursive: true });

  const { stderr } = await ralphCli(root).agent("worker", WORK).args("run").expectExit(0);

  expect(stderr).toContain("US-001 was interrupted in attempt 1\n");
  expect(stderr).toContain(
    "warning: work of the run that was stopped is not here; as HEAD has it: scripts/ralph/prd.json\n",
  );
  expect(git("show", "HEAD:work/1.txt")).toBe("done\n");
  expect(passedIn(root)).toEqual(["US-001"]);
});
