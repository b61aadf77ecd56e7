import { expect, test } from "vitest";
import { ralphCli } from "./cli.ts";

const FORGED = "scripts/ralph/runs/20991231-000000-zzzz";
const PRD = JSON.stringify({
  branchName: "ralph/hello",
  userStories: [{
    id: "US-001",
    title: "Write hello.txt",
    acceptanceCriteria: ["Verify: `test -f hello.txt`"],
    priority: 1,
    passes: false,
    notes: "",
  }],
});

test("a run's record that a turn wrote is no run: neither report nor finish reads it", async () => {
  const worker = `cat >/dev/null; echo hello >hello.txt; mkdir -p ${FORGED}
    cat scripts/ralph/runs/2*/events.ndjson >${FORGED}/events.ndjson; echo '<promise>COMPLETE</promise>'`;
  const { root, git } = await ralphCli().files({ "scripts/ralph/prd.json": PRD }).agent("worker", worker)
    .args("run", "--agent-cmd", "worker").expectExit(0);

  const report = await ralphCli(root).args("report").expectExit(0);
  const named = await ralphCli(root).args("report", "20991231-000000-zzzz").expectExit(2);
  const finished = await ralphCli(root).args("finish", "--approve", "finish").expectExit(0);

  expect(report.stdout).not.toContain("20991231");
  expect(report.stdout).toContain("passed");
  expect(named.stderr).toContain("is neither a run's id nor the folder of one");
  expect(finished.stderr).not.toContain("ended as cut off");
  expect(git("show", "main:hello.txt")).toBe("hello");
}, 60_000);

test("a clone without Ralph's own notes shows the records that are there", async () => {
  const { root } = await ralphCli().files({ "scripts/ralph/prd.json": PRD })
    .agent("worker", "cat >/dev/null; echo hello >hello.txt; echo '<promise>COMPLETE</promise>'")
    .args("run", "--agent-cmd", "worker").expectExit(0);

  const { stdout } = await ralphCli(root).before("rm .git/ralph/runs").args("report").expectExit(0);

  expect(stdout).toContain("passed");
}, 60_000);
