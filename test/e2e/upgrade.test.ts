/**
 * Projects as Ralph 0.1.0 left them: it did one item of two, and parked the other; in `killed` it was killed in a turn.
 * `test/fixtures/state_0.1.0.tar.gz` holds them, with the recipes that it wrote out.
 */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Cli, ralphCli } from "./cli.ts";

const ARCHIVE = join(import.meta.dirname, "../fixtures/state_0.1.0.tar.gz");

const DRAFT = {
  questions: [],
  uncertainties: [],
  prdDraft: {
    branchName: "ralph/two",
    userStories: [{
      id: "US-001",
      title: "Add a.txt",
      acceptanceCriteria: ["Verify: `test -f a.txt`"],
      priority: 1,
      passes: false,
      notes: "",
    }],
  },
  recommendUnderstand: { shouldRun: false, reasons: [] },
};

/** It does what is left, and says what its prompt asks for. */
const WORKER = `prompt=$(cat)
say() { printf '%s\\n' "$prompt" | grep -oE "$1" | head -1; }
case "$prompt" in
*"Plan: from a goal"*) echo '${JSON.stringify(DRAFT)}';;
*"# Build one task"*) echo b > b.txt; ralph task done;;
*"# Verify what was done"*) ralph task accept; echo "[RALPH] SPEC_COMPLETE";;
*"step-2: write b"*) echo b > b.txt; ralph step done;;
*"# Reflect"*) echo "$(say 'RALPH_COMPLETE [a-z0-9]*:') all is there";;
*"Plan Location"*) echo right > two.txt; echo ok > .planning/phases/01-base/01-02-SUMMARY.md; say '###PLAN_COMPLETE [a-z0-9]*###';;
*"Final Verification"*) echo "<ralph>VERIFIED</ralph>";;
*US-00*) case "$prompt" in *US-001*) echo blue > a.txt;; *) echo b > b.txt;; esac
  say '<(ralph|promise)[ a-z0-9]*>(DONE|COMPLETE)</(ralph|promise)>';;
esac`;

/** Command lines in a folder of the archive, unpacked. */
function left(name: string, made: Cli = ralphCli().without("repository")): () => Cli {
  const { root } = made.prepare();
  expect(spawnSync("tar", ["-xzf", ARCHIVE, "-C", root, "--strip-components=1", name]).status).toBe(0);
  return () => ralphCli(root).agent("worker", WORKER);
}

test.each([
  ["exec", /✓ US-001 .*\n {2}▲ US-002 .*parked: test -f b\.txt: exit 1\n/, "US-002", "run"],
  ["feature", /✓ US-001 .*\n {2}▲ US-002 .*2 failed\n/, "US-002", "run auth"],
  ["spec", /▲ t-\w+ .*parked: failed the same way 3 times(.|\n)*✓ t-\w+ /, "t-\\w+", "build"],
  ["sprint", /✓ step-1 .*\n {2}○ step-2 /, "step-2", "sprint run .claude/sprints/s"],
  ["gsd", /plans: 1\/2 complete, 1 open\n/, "01-02", "run --loop"],
])("the state of 0.1.0 in %s: shown, reported, and worked off", async (name, shown, rest, command) => {
  const ralph = left(name);

  expect((await ralph().args("validate").expectExit(0)).stdout).not.toContain("✗");
  expect((await ralph().args("status").expectExit(0)).stdout).toMatch(shown);
  expect((await ralph().args("report").expectExit(0)).stdout).toMatch(/: (?:blocked|exhausted)\n\n/);
  const { stderr, git } = await ralph().args(...command.split(" "), "--retry-blocked").expectExit(0);

  const [, worked] = /✓ passed: 1 verified in \d iterations?\n {2}verified {2}(.*)\n/.exec(stderr) ?? [];
  expect(worked).toMatch(new RegExp(`^${rest}$`));
  expect(git("status", "--porcelain")).toBe("");
});

test("a run of 0.1.0 that was killed in a turn: taken up again, the person's file left alone", async () => {
  const ralph = left("killed");

  const { stderr, git, read } = await ralph().args("run").expectExit(0);

  expect(stderr).toContain("warning: ralph.config.json: limits.noProgress is called limits.idle now\n");
  expect(stderr).toContain("US-001 was interrupted in attempt 1, with what lies uncommitted");
  expect(stderr).toContain("✓ passed: 2 verified in 2 iterations\n  verified  US-001, US-002\n");
  expect([git("status", "--porcelain"), read("notes.txt"), read("a.txt")]).toEqual([
    "?? notes.txt",
    "mine\n",
    "blue\n",
  ]);
});

test("recipes of 0.1.0 run, or one line says what to change in them", async () => {
  const config = '{ "provider": { "command": "worker" }, "verify": { "default": ["test -f b.txt"] } }';
  const ralph = left("recipes", ralphCli().files({ "TODO.md": "- [ ] US-002\n", "ralph.config.json": config }));

  const todo = await ralph().args("run-recipe", "todo.ts").expectExit(70);
  expect(todo.stderr).toContain("next() answers a `verdict`, as version 1 of the interface asked for");
  expect(todo.stderr).toContain("hint: take `verdict` out of what next() answers (docs/guides/write-a-backlog.md)\n");
  for (
    const line of [
      "featureBacklog ralph/feature",
      "commitPlan ralph/spec",
      "openSprint ralph/sprint",
      "gsdBacklog ralph/gsd",
    ]
  ) {
    const [name = "", module = ""] = line.split(" ");
    const { stderr } = await ralph().args("run-recipe", `${module.slice(6)}.ts`, "x").expectExit(2);
    expect(stderr).toMatch(new RegExp(`^error: \\[ROOT\\]/\\w+\\.ts:\\d+:\\d+: ralph has no export named ${name}\n`));
    expect(stderr).toContain(`hint: \`import { ${name} } from "${module}"\`\n`);
  }
  const exec = await ralph().args("run-recipe", "exec.ts", "two files", "--approve", "prd,run").expectExit(0);
  expect(exec.stderr).toContain("✓ passed: 1 verified in 1 iteration\n");
});
