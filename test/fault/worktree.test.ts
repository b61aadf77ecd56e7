import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ralphCli } from "../e2e/cli.ts";
import { faultProject, passedIn, WORK } from "./world.ts";

describe("a run in a second worktree", () => {
  test("continues beside the first, each with state of its own", async () => {
    const project = faultProject(
      `for round in $(seq 3000); do [ -e ../seen ] && break; sleep 0.05; done; ${WORK}`,
      { count: 2 },
    );
    const first = project.cli.before("git worktree add -q -b side ../side/project").start();
    await first.shows("agent worker: started");
    const side = join(first.root, "../side/project");

    const second = await ralphCli(side).agent("worker", WORK).args("run", "--branch", "").expectExit(0);
    writeFileSync(join(first.root, "../seen"), "");
    const { exitCode, root, git } = await first.ended();

    expect(exitCode).toBe(0);
    expect(passedIn(root)).toEqual(["US-001", "US-002"]);
    expect(passedIn(side)).toEqual(["US-001", "US-002"]);
    expect(git("log", "--format=%s", "main").match(/^feat: /gm)).toHaveLength(2);
    expect(second.git("log", "--format=%s", "side").match(/^feat: /gm)).toHaveLength(2);
    expect(git("status", "--porcelain")).toBe("");
    expect(second.git("status", "--porcelain")).toBe("");
    expect(existsSync(join(root, ".git/worktrees/project/ralph/journal.jsonl"))).toBe(true);
  });
});
