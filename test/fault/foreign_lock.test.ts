import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ralphCli } from "../e2e/cli.ts";
import { expectNothingLeft, faultProject, passedIn, prdText, stories, WORK } from "./world.ts";
import { needs } from "../needs.ts";

describe("a stale index.lock of somebody else", () => {
  test("is waited for, named, and never removed", async () => {
    const project = faultProject(WORK);

    const { root, stderr } = await project.cli.before("touch .git/index.lock").expectExit(1);

    expect(stderr).toBe(
      "workflow exec (scripts/ralph exists)\nagent worker (ralph.config.json)\nerror: [ROOT]/.git/index.lock is in the way: no git is at work here, so that it was left behind\n" +
        "hint: wait for it to end; remove the file only when no git process is running\n",
    );
    expect(existsSync(join(root, ".git/index.lock"))).toBe(true);
    expect(existsSync(join(root, "work"))).toBe(false);
  });

  test("that goes away in time is no trouble", async () => {
    const project = faultProject(WORK);

    const { root } = await project.cli.before(
      "touch .git/index.lock; (sleep 1.5; rm .git/index.lock) > /dev/null 2>&1 &",
    ).expectExit(0);

    expect(passedIn(root)).toEqual(["US-001"]);
  });

  test("that comes in the middle of a run stops it, and the next one continues without another turn", async () => {
    const criterion =
      "Verify: `grep -qx done work/1.txt && [ -f ignored/once ] || { grep -qx done work/1.txt && mkdir -p ignored && touch ignored/once .git/index.lock; }`";
    const project = faultProject(WORK, { prd: prdText([{ ...stories(1)[0]!, acceptanceCriteria: [criterion] }]) });

    const { root, stderr } = await project.cli.expectExit(1);

    expect(stderr).toMatch(
      /\nerror: \[ROOT\]\/\.git\/index\.lock is in the way: no git is at work here, so that it was left behind\n/,
    );
    rmSync(join(root, ".git/index.lock"));
    const again = await ralphCli(root).agent("worker", "echo no turn is needed; exit 1").args("run").expectExit(0);
    expect(passedIn(root)).toEqual(["US-001"]);
    expect(again.git("log", "--format=%s").match(/^feat: US-001/gm)).toHaveLength(1);
    expect(again.git("status", "--porcelain")).toBe("");
  });
});

describe("an index.lock that the agent's own git left", needs("Linux"), () => {
  test("in a turn is taken away", async () => {
    const project = faultProject(`${WORK}; touch .git/index.lock .git/HEAD.lock .git/next-index-9999999.lock`);

    const { root } = await project.cli.expectExit(0);

    expect(passedIn(root)).toEqual(["US-001"]);
    expect(existsSync(join(root, ".git/next-index-9999999.lock"))).toBe(false);
    await expectNothingLeft(project, root);
  });

  test("in a turn that was killed with Ralph is taken away by the next run", async () => {
    const project = faultProject("touch .git/index.lock; sleep 300");
    const running = project.cli.start();
    await expect.poll(() => existsSync(join(running.root, ".git/index.lock"))).toBe(true);
    running.child.kill("SIGKILL");
    await running.ended();

    const { root } = await ralphCli(running.root).agent("worker", WORK).args("run").expectExit(0);

    expect(passedIn(root)).toEqual(["US-001"]);
    await expectNothingLeft(project, root);
  });

  test("is left alone while a git works in the tree", async () => {
    const project = faultProject(`${WORK}; touch .git/index.lock`);
    const other =
      'cp "$(command -v sleep)" ../git; setsid ../git 300 > /dev/null 2>&1 < /dev/null & echo $! > ../other; ' +
      "for round in $(seq 3000); do grep -qsxz ../git /proc/$(cat ../other)/cmdline && break; sleep 0.05; done";

    const { root, stderr } = await project.cli.before(other).expectExit(1);
    process.kill(Number(readFileSync(join(root, "../other"), "utf8")), "SIGKILL");

    expect(stderr).toMatch(/index\.lock is in the way: /);
    expect(existsSync(join(root, ".git/index.lock"))).toBe(true);
  });
});
