import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../../lib/host/files.ts";
import { ralphProgram } from "../fault/program.ts";
import { runProgram } from "../fault/crash/run_program.ts";
import { gitIn, makeRepository } from "../repository.ts";

const story = (id: string, priority = 1) => ({
  id,
  title: `Write ${id}`,
  acceptanceCriteria: [`Verify: \`test -f ${id}.txt\``],
  priority,
  passes: false,
  notes: "",
});

async function project() {
  const folder = await temporaryDirectory("ralph-worktrees-");
  const root = join(folder.path, "app");
  const prd = { branchName: "main", userStories: [story("a"), story("b")] };
  const { mkdirSync } = await import("node:fs");
  mkdirSync(root);
  makeRepository(root, { files: { "scripts/ralph/prd.json": JSON.stringify(prd, null, 2), ".gitignore": ".env\n" } });
  const ralph = (...words: string[]) =>
    runProgram([...ralphProgram(), ...words], { cwd: root, environment: { ...process.env, NO_COLOR: "1" } });
  return { folder, root, ralph, git: gitIn(root), trees: join(folder.path, ".app.ralph") };
}

test(
  "`ralph run --parallel 2` has lanes, `.env` and a port for each; `ralph worktrees` lists and removes what a kill left",
  async () => {
    const { folder, root, ralph, git, trees } = await project();
    await using _folder = folder;
    const { writeFileSync } = await import("node:fs");
    writeFileSync(join(root, ".env"), "SECRET_FILE=1\n");
    const agent = "cat > /dev/null; cat .env > $RALPH_ITEM.txt; echo $RALPH_LANE > lane-$RALPH_ITEM.txt; sleep 60";
    const [file = "", ...before] = ralphProgram();
    const child = spawn(file, [...before, "run", "--parallel", "2", "--agent-cmd", agent], {
      cwd: root,
      stdio: "ignore",
    });
    const files = ["app-0/lane-a.txt", "app-1/lane-b.txt"].map((path) => join(trees, path));
    await expect.poll(() => files.every((path) => existsSync(path))).toBe(true);
    const atWork = await ralph("worktrees");
    const refused = await ralph("worktrees", "remove");
    child.kill("SIGKILL");
    await new Promise((done) => child.on("exit", done));
    const lanes = files.map((path) => readFileSync(path, "utf8").trim());

    const listed = await ralph("worktrees");
    const removed = await ralph("worktrees", "remove");

    expect(lanes).toEqual(["0", "1"]);
    expect(atWork.output).toContain("at work: work in progress");
    expect(refused).toMatchObject({
      exitCode: 2,
      output: expect.stringContaining("another `ralph run` is running here"),
    });
    expect(listed.output).toMatch(/\.\.\/\.app\.ralph\/app-0 {2}run \S+, left: work in progress/);
    expect(removed).toMatchObject({ exitCode: 0, output: expect.stringContaining("work of 2 of them is kept") });
    expect(existsSync(trees)).toBe(false);
    expect(git("worktree", "list").trim()).not.toContain("\n");
    const kept = git("for-each-ref", "--format=%(refname)", "refs/ralph/work").trim().split("\n");
    expect(kept).toHaveLength(2);
    const names = kept.flatMap((ref) => git("ls-tree", "--name-only", ref).trim().split("\n"));
    expect(names.filter((name) => /^[ab]\.txt$/.test(name)).toSorted()).toEqual(["a.txt", "b.txt"]);
  },
);

test("a run after a kill opens every tree although a lock is left in one, and leaves none behind", async () => {
  const { folder, root, ralph, git, trees } = await project();
  await using _folder = folder;
  const { writeFileSync } = await import("node:fs");
  const setup = `test ! -e ${folder.path}/spoilt || test $RALPH_LANE != 1`;
  const stories = [story("a"), story("b"), story("c")];
  writeFileSync(
    join(root, "scripts/ralph/prd.json"),
    JSON.stringify({ branchName: "main", userStories: stories }, null, 2),
  );
  writeFileSync(join(root, "ralph.config.json"), JSON.stringify({ workspace: { setup } }));
  git("add", "-A");
  git("commit", "-qm", "three stories");
  const killed = async (begun: number): Promise<void> => {
    const [file = "", ...before] = ralphProgram();
    const child = spawn(file, [...before, "run", "--parallel", "3", "--agent-cmd", "cat > /dev/null; sleep 60"], {
      cwd: root,
      stdio: "ignore",
    });
    const lines = (): readonly string[] =>
      readFileSync(join(root, ".git/ralph/journal.jsonl"), "utf8").split('"begun"');
    await expect.poll(() => existsSync(join(trees, "app-2")) && lines().length > begun).toBe(true);
    child.kill("SIGKILL");
    await new Promise((done) => child.on("exit", done));
  };
  const agent = "cat > /dev/null; touch $RALPH_ITEM.txt; echo '<promise>COMPLETE</promise>'";

  await killed(3);
  writeFileSync(join(root, ".git/worktrees/app-1/index.lock"), "");
  await killed(6);
  expect(existsSync(join(root, ".git/worktrees/app-1/index.lock"))).toBe(false);
  writeFileSync(join(folder.path, "spoilt"), "");
  const spoilt = await ralph("run", "--parallel", "3", "--agent-cmd", agent);

  expect(spoilt.output).toMatch(/works with 1 of 3 workers: .*setup/);
  expect(spoilt).toMatchObject({ exitCode: 0, output: expect.stringContaining("passed") });
  expect(git("worktree", "list").trim()).not.toContain("\n");
  expect(existsSync(trees)).toBe(false);
});

test("what cannot be worked on at once is refused with a hint, exit code 2", async () => {
  const { folder, ralph, root } = await project();
  await using _folder = folder;
  const { writeFileSync } = await import("node:fs");

  const many = await ralph("run", "--parallel", "99", "--agent-cmd", "true");
  const asking = await ralph("run", "--parallel", "2", "--interactive", "--ui", "plain", "--agent-cmd", "true");
  writeFileSync(join(root, "ralph.config.json"), JSON.stringify({ commits: { work: false } }));
  const uncommitted = await ralph("run", "--parallel", "2", "--agent-cmd", "true");

  expect([many, asking, uncommitted].map(({ exitCode }) => exitCode)).toEqual([2, 2, 2]);
  expect(many.output).toContain("a whole number from 1 to 16");
  expect(asking.output).toContain("`--interactive` asks between items");
  expect(uncommitted.output).toContain("hint: set it to true, or work with one");
});

test("an order of stories that leaves work for one worker only is named, with the flag that ignores it", async () => {
  const { folder, ralph, root } = await project();
  await using _folder = folder;
  const { writeFileSync } = await import("node:fs");
  const prd = { branchName: "main", userStories: [story("a", 1), story("b", 2)] };
  writeFileSync(join(root, "scripts/ralph/prd.json"), JSON.stringify(prd, null, 2));
  const agent = "cat > /dev/null; touch $RALPH_ITEM.txt";

  const ordered = await ralph("run", "--parallel", "2", "--max-iterations", "1", "--agent-cmd", agent);
  writeFileSync(join(root, "scripts/ralph/prd.json"), JSON.stringify(prd, null, 2));
  const any = await ralph("run", "--parallel", "2", "--any-order", "--max-iterations", "1", "--agent-cmd", agent);

  const note = "one after another: all priorities differ (`--any-order` ignores them)";
  expect(ordered.output).toContain(note);
  expect(any.output).not.toContain(note);
});
