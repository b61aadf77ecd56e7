import { describe, expect, test } from "vitest";
import { ONE, planText, PROJECT, summaryOf } from "../workflows/gsd/planning.ts";
import { type Cli, ralphCli } from "./cli.ts";

/** A plan whose first task wants one.txt and whose second task names no command. */
const PLAN = planText("one.txt", { task: '<task type="auto">\n  <name>Look</name>\n</task>' });

function project(script: string): Cli {
  return ralphCli().files({
    ...PROJECT,
    [ONE]: PLAN,
    "ralph.config.json": JSON.stringify({ provider: { command: "worker" } }),
  }).agent("worker", script);
}

/** An agent that checks its first task, and repeats it if Ralph says so. */
function worker(repeated: string): string {
  return [
    "prompt=$(cat)",
    "echo wrong > one.txt",
    'ralph check 1 >> said.txt; echo "exit $?" >> said.txt',
    `echo ${repeated} > one.txt`,
    'ralph check 1 >> said.txt; echo "exit $?" >> said.txt',
    'ralph check 2 >> said.txt; echo "exit $?" >> said.txt',
    "git add -A; git commit -qm 'feat(01-01): Write one.txt'",
    `echo ok > ${summaryOf(ONE)}`,
    `printf '%s\\n' "$prompt" | grep -o '###PLAN_COMPLETE [a-z0-9]*###' | head -1`,
  ].join("\n");
}

describe("ralph check", () => {
  test("in a turn it runs one task's commands at once: red asks to repeat the task, green lets it go on", async () => {
    const run = await project(worker("right")).args("run", "--plan", "01-01").expectExit(0);

    expect(run.stderr).toContain("✓ passed");
    expect(run.read("said.txt")).toBe([
      "task 1: 1 of 1 checks failed",
      "task 1: grep -q right one.txt",
      "",
      "repeat the task once, then run `ralph check 1` again",
      "exit 1",
      "task 1: 1 of 1 checks passed",
      "exit 0",
      "task 2 names no command: verify it as its <verify> says",
      "exit 0",
      "",
    ].join("\n"));
  });

  test("a task that fails twice in a turn is given up, and is no pass whatever the agent says", async () => {
    const run = await project(worker("wrong")).args("run", "--plan", "01-01").expectExit(3);

    expect(run.read("said.txt")).toContain(
      "it failed for the second time: print ###TASK_FAILED:Write one.txt### and stop\nexit 3\n",
    );
  });

  test("a person can run it too: the next plan, or the one that is named", async () => {
    const next = await project("true").args("check", "1").expectExit(1);
    const none = await project("true").args("check", "7", "--plan", "01-02").expectExit(2);

    expect(next.stdout).toContain("task 1: 1 of 1 checks failed\n");
    expect(none.stderr).toContain("plan 01-02 has no task 7");
    expect(none.stderr).toContain("its tasks: 1 Write two.txt");
  });
});
