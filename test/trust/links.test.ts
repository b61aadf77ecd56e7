import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { ralphCli } from "../e2e/cli.ts";
import { needs } from "../needs.ts";

const OLD_RUN = "20250101-000000-aaaa/precious";
const PRD = JSON.stringify({
  branchName: "main",
  userStories: [{
    id: "US-001",
    title: "Add a.txt",
    acceptanceCriteria: ["Verify: `test -f a.txt`"],
    priority: 1,
    passes: false,
    notes: "",
  }],
});
const SPRINT = { "sprint-id": "s", mode: "ralph", status: "in-progress", goal: "G", "dynamic-steps": [] };

test.each([
  ["scripts/ralph/runs", "run"],
  ["scripts/ralph/progress.txt", "run"],
  [".claude/sprints/one/logs", "sprint run"],
  [".claude/sprints/one/transcripts", "sprint run"],
  [".claude/sprints/one/transcripts/iteration-1.jsonl", "sprint run"],
])("a link that leads outside is not followed: %s", needs("a POSIX system"), async (path, command) => {
  const cli = ralphCli()
    .files({
      "ralph.config.json": JSON.stringify({
        provider: { command: "worker" },
        logs: { keep: 1 },
        ...(command === "run" ? {} : { workflow: "sprint" }),
      }),
      ...(command === "run" ? { "scripts/ralph/prd.json": PRD } : {
        ".claude/sprints/one/SPRINT.yaml": "goal: G\nworkflow: ralph\n",
        ".claude/sprints/one/PROGRESS.yaml": JSON.stringify(SPRINT),
      }),
    })
    .agent("worker", "touch a.txt; echo '<promise>COMPLETE</promise>'")
    .args(...command.split(" "), "--max-iterations", "1");
  const { root } = cli.prepare();
  const outside = join(dirname(root), "outside");
  mkdirSync(join(outside, dirname(OLD_RUN)), { recursive: true });
  writeFileSync(join(outside, OLD_RUN), "mine");
  writeFileSync(join(outside, "file"), "mine");
  mkdirSync(dirname(join(root, path)), { recursive: true });
  symlinkSync(/\.\w+$/.test(path) ? join(outside, "file") : outside, join(root, path));

  const { stderr } = await ralphCli(root).agent("worker", "touch a.txt; echo '<promise>COMPLETE</promise>'").args(
    ...command.split(" "),
    "--max-iterations",
    "1",
  ).expectExit(2);

  expect(stderr).toContain("is outside");
  expect(readFileSync(join(outside, OLD_RUN), "utf8")).toBe("mine");
  expect(readFileSync(join(outside, "file"), "utf8")).toBe("mine");
  expect(existsSync(join(outside, ".gitignore"))).toBe(false);
});
