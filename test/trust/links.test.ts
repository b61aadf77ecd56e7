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

/** A turn can leave these in the place of a file, and a run would stumble over them. */
const LEFT: Readonly<Record<string, string>> = {
  "a link out of the repository": 'rm -f "$1"; ln -s "$HOME/outside" "$1"',
  "a link to nowhere": 'rm -f "$1"; ln -s nowhere/x "$1"',
  "a link to itself": 'rm -f "$1"; ln -s "$(basename "$1")" "$1"',
  "a pipe": 'rm -f "$1"; mkfifo "$1"',
  "a folder": 'rm -f "$1"; mkdir "$1"; touch "$1/x"',
  "more than a text": 'head -c 20000000 /dev/zero > "$1"',
};

test.each(Object.entries(LEFT))(
  "%s in the place of a file that Ralph writes is restored, and the run goes on",
  needs("a POSIX system"),
  async (_name, leave) => {
    const { stderr, read, git } = await ralphCli()
      .files({ "scripts/ralph/prd.json": PRD, "scripts/ralph/progress.txt": "a person's line\n" })
      .agent(
        "worker",
        `leave() { ${leave}; }; echo outside > "$HOME/outside"
        leave scripts/ralph/progress.txt; leave scripts/ralph/prd.json; touch a.txt; echo '<promise>COMPLETE</promise>'`,
      )
      .args("run", "--agent-cmd", "worker", "--max-iterations", "2").expectExit(0);

    expect(stderr).toContain("restored, edited manually: scripts/ralph/prd.json, scripts/ralph/progress.txt");
    expect(read("scripts/ralph/progress.txt")).toMatch(/^a person's line\n.*US-001/s);
    expect(read("scripts/ralph/prd.json")).toContain('"passes": true');
    expect(read("../home/outside")).toBe("outside\n");
    expect(git("status", "--porcelain")).toBe("");
  },
);

test.each([
  ["sprint", ".claude/sprints/one/PROGRESS.yaml", "sprint run"],
  ["spec", "ralph/plan.jsonl", "build"],
])("a pipe in the place of a state file is restored: %s", needs("a POSIX system"), async (workflow, path, command) => {
  const plan = [
    { t: "spec", spec: "s.md", planned: true },
    { t: "task", id: "t-1", spec: "s.md", name: "a", s: "p", accept: "Verify: `test -f a.txt`" },
  ];
  const { stderr, git } = await ralphCli()
    .files({
      "ralph.config.json": JSON.stringify({ workflow, verify: { default: ["test ! -p x"] } }),
      "s.md": "# S\n",
      "ralph/plan.jsonl": plan.map((line) => `${JSON.stringify(line)}\n`).join(""),
      ".claude/sprints/one/SPRINT.yaml": "goal: G\nworkflow: ralph\n",
      ".claude/sprints/one/PROGRESS.yaml": JSON.stringify(SPRINT),
    })
    .agent("worker", `rm ${path}; mkfifo ${path}; touch a.txt`)
    .args(...command.split(" "), "--agent-cmd", "worker", "--max-iterations", "1").expectExit(1);

  expect(stderr).toContain(`restored, edited manually: ${path}`);
  expect(stderr).toContain("limit reached: 1 iteration");
  expect(git("ls-files", "-s", path)).toMatch(/^100644 /);
});
