import { lstatSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { type Cli, ralphCli } from "../e2e/cli.ts";
import { prd } from "../e2e/feature_project.ts";
import { needs } from "../needs.ts";
import { ONE, PROJECT } from "../workflows/gsd/planning.ts";

/** A project of each workflow with one thing to do, which is done where one.txt says `right`. */
const STORY = {
  id: "US-001",
  title: "Add one.txt",
  acceptanceCriteria: ["Verify: `grep -q right one.txt`"],
  priority: 1,
  passes: false,
  notes: "",
};
const PLAN = [
  { t: "spec", spec: "s.md", planned: true },
  { t: "task", id: "t-1", spec: "s.md", name: "a", s: "p", accept: "Verify: `grep -q right one.txt`" },
];
const SPRINT = { "sprint-id": "s", mode: "ralph", status: "in-progress", goal: "G", "dynamic-steps": [] };
const PROJECTS: Readonly<Record<string, readonly [files: Readonly<Record<string, string>>, command: string]>> = {
  exec: [{ "scripts/ralph/prd.json": JSON.stringify({ branchName: "main", userStories: [STORY] }) }, "run"],
  feature: [
    { ".ralph/2024-01-15-auth/prd.json": prd([STORY]) },
    "run auth",
  ],
  spec: [{ "s.md": "# S\n", "ralph/plan.jsonl": PLAN.map((line) => `${JSON.stringify(line)}\n`).join("") }, "build"],
  sprint: [{
    ".claude/sprints/one/SPRINT.yaml": "goal: G\nworkflow: ralph\n",
    ".claude/sprints/one/PROGRESS.yaml": JSON.stringify(SPRINT),
  }, "sprint run"],
  gsd: [{ ...PROJECT, [ONE]: PROJECT[ONE] ?? "" }, "run --plan 01-01"],
};

function project(workflow: string, turn: string): Cli {
  const [files, command] = PROJECTS[workflow]!;
  const config = { workflow, verify: { default: ["test ! -p one.txt"] }, provider: { command: "worker" } };
  const script = `prompt=$(cat); echo right > one.txt
case "$prompt" in *"in the place of"*) ;; *) ${turn};; esac
[ "$RALPH_STAGE" = BUILD ] && ralph task done
printf '%s\\n' "$prompt" | grep -o '###PLAN_COMPLETE [a-z0-9]*###' | head -1
echo "<promise>COMPLETE</promise>"`;
  return ralphCli()
    .files({ "ralph.config.json": JSON.stringify(config), "scripts/deploy.sh": "make\n", ...files })
    .agent("worker", script).args(...command.split(" "), "--max-iterations", "2");
}

test.each([
  ["exec", "scripts", 'rm -r "$1"; echo mine > "$1"', 0],
  ["exec", "scripts/ralph", 'rm -r "$1"; mkfifo "$1"', 0],
  ["exec", "scripts", 'mv "$1" moved; ln -s moved "$1"', 0],
  ["exec", "scripts", 'rm -r "$1"; echo mine > "$1"; git add -A; git commit -qm swapped', 0],
  ["exec", "scripts", 'rm -r "$1"; echo mine > "$1"; git add -A', 0],
  ["feature", ".ralph", 'rm -r "$1"; echo mine > "$1"', 1],
  ["spec", "ralph", 'rm -r "$1"; echo mine > "$1"', 1],
  ["sprint", ".claude/sprints/one", 'rm -r "$1"; echo mine > "$1"', 0],
  ["gsd", ".planning", 'rm -r "$1"; echo mine > "$1"', 1],
])(
  "what a turn puts in the place of a folder of state costs it its attempt, not the run: %s, %s, %s",
  needs("a POSIX system"),
  async (workflow, folder, swap, exitCode) => {
    const { stderr, root, git } = await project(workflow, `swap() { ${swap}; }; swap ${folder}`)
      .expectExit(exitCode);

    expect(stderr).toMatch(new RegExp(`failed: the turn put a \\w+.* in the place of the folder ${folder},`));
    expect(stderr).toContain("(attempt 2");
    expect(git("ls-files", "--deleted")).toBe("");
    expect(git("show", "HEAD:scripts/deploy.sh")).toBe("make");
    expect(lstatSync(join(root, ".git/ralph/aside", basename(folder))).isDirectory()).toBe(false);
  },
);
