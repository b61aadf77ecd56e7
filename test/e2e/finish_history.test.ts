import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { madeOnce, type Project, ralphCli } from "./cli.ts";

const story = (id: string, file: string): object => ({
  id,
  title: `Write ${file}`,
  acceptanceCriteria: [`Verify: \`test -f ${file}\``],
  priority: 1,
  passes: false,
  notes: "",
});
const PRD = JSON.stringify({ branchName: "ralph/hello", userStories: [story("US-001", "a.txt")] });
const WORKER = "cat > /dev/null; echo a > a.txt; echo '<promise>COMPLETE</promise>'";

const finished = madeOnce(() =>
  ralphCli().files({ "scripts/ralph/prd.json": PRD }).agent("worker", WORKER)
    .args("run", "--agent-cmd", "worker", "--quiet").expectExit(0)
);

/** A bare repository as `origin`. */
function withRemote({ root, git }: Project): string {
  const bare = `${root}-origin.git`;
  execFileSync("git", ["init", "-q", "--bare", "--initial-branch=main", bare]);
  git("remote", "add", "origin", bare);
  git("push", "-q", "origin", "main");
  return bare;
}

const finish = (root: string, ...args: string[]): ReturnType<typeof ralphCli> =>
  ralphCli(root).args("finish", "--approve", "finish", ...args);

describe("ralph finish --with-history", () => {
  test("pushes what is kept of the branch; a clone gets it, goes on and adds to it", async () => {
    const project = await finished();
    const bare = withRemote(project);
    const atRemote = (): string =>
      execFileSync("git", ["for-each-ref", "--format=%(refname)", "refs/ralph"], { cwd: bare, encoding: "utf8" });
    expect((await finish(project.root, "--merge", "--with-history").expectExit(2)).stderr).toContain(
      "pushes to a remote",
    );

    await finish(project.root, "--with-history").expectExit(0);

    expect(atRemote()).toBe("refs/ralph/archive/ralph/hello/1\n");
    const { root, git } = await ralphCli().without("repository").agent("worker", WORKER)
      .before(
        `git clone -q --branch ralph/hello ${bare} . && git config user.name B && git config user.email b@example.org`,
      )
      .args("restore", "--branch", "ralph/hello").expectExit(2);
    const restored = await ralphCli(root).args("restore", "--branch", "ralph/hello", "--with-history").expectExit(0);
    expect(restored.stdout).toContain("scripts/ralph/prd.json  from refs/ralph/archive/ralph/hello/1");
    const prd = join(root, "scripts/ralph/prd.json");
    const { userStories } = JSON.parse(readFileSync(prd, "utf8"));
    expect(userStories[0].passes).toBe(true);
    writeFileSync(
      prd,
      JSON.stringify({ branchName: "ralph/hello", userStories: [...userStories, story("US-002", "b.txt")] }),
    );
    await ralphCli(root).agent("worker", WORKER.replaceAll("a.txt", "b.txt")).args(
      "run",
      "--agent-cmd",
      "worker",
      "--quiet",
    ).expectExit(0);
    await finish(root, "--with-history").expectExit(0);

    expect(atRemote()).toBe("refs/ralph/archive/ralph/hello/1\nrefs/ralph/archive/ralph/hello/2\n");
    expect(git("diff", "--name-only", "--diff-filter=d", "origin/main", "origin/ralph/hello").split("\n")).toEqual([
      "a.txt",
      "b.txt",
    ]);
  });

  test("a remote that refuses what is kept gets nothing, and says why", async () => {
    const project = await finished();
    const bare = withRemote(project);
    const hook = '#!/bin/sh\ncase "$1" in refs/ralph/*) echo no such refs here >&2; exit 1;; esac\n';
    writeFileSync(join(bare, "hooks/update"), hook, { mode: 0o755 });

    const { stderr } = await finish(project.root, "--with-history").expectExit(1);

    expect(stderr).toContain("no such refs here");
    expect(project.git("ls-remote", "origin", "refs/heads/ralph/hello")).toBe("");
    await finish(project.root).expectExit(0);
    expect(project.git("ls-remote", "origin", "refs/heads/ralph/hello")).not.toBe("");
  });
});
