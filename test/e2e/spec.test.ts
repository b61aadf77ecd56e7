import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Cli, type CliResult, ralphCli } from "./cli.ts";

const FIXTURES = join(import.meta.dirname, "../fixtures/spec");
const SPEC = readFileSync(join(FIXTURES, "wordcount.md"), "utf8");
const SCRIPT = join(FIXTURES, "wordcount.yaml");

interface Entry {
  readonly id: string;
  readonly desc: string;
  readonly outcome: string;
  readonly rejected: readonly { readonly reason: string }[];
}

async function run(from: CliResult | null, code: number, ...args: readonly string[]): Promise<CliResult> {
  const cli = from === null ? ralphCli().files({ "specs/wordcount.md": SPEC }) : ralphCli(from.root);
  return await cli.args(...args).expectExit(code);
}

function project(plan: string): Cli {
  return ralphCli().files({ "specs/a.md": "# a\n", "specs/b.md": "# b\n", "ralph/plan.jsonl": plan });
}

const TASK =
  '{"t": "task", "id": "t-1a2b", "spec": "a.md", "name": "write a", "accept": "Verify: `test -f a`", "s": "p"}\n';
const PLAN = `{"t": "spec", "spec": "a.md"}\n${TASK}`;

describe("the spec workflow", () => {
  test("takes a spec from plan to COMPLETE: a lie, a rejection, a timeout and an issue on the way", async () => {
    const agent = ["--agent", "scripted", "--script", SCRIPT];

    const planned = await run(null, 0, "plan", "wordcount.md", ...agent);
    expect(planned.stderr).toContain("3 tasks pending for wordcount.md; next: `ralph build`");
    const built = await run(planned, 0, "build", "--timeout", "10", ...agent);

    expect(built.stderr).toContain("VERIFY: verified");
    expect((await run(built, 0, "query", "stage")).stdout).toBe("COMPLETE\n");
    const log = JSON.parse((await run(built, 0, "log", "--all")).stdout) as { readonly tasks: readonly Entry[] };
    const lives = Object.fromEntries(
      log.tasks.map(({ desc, outcome, rejected }) => [desc, [outcome, ...rejected.map(({ reason }) => reason)]]),
    );
    expect(lives).toEqual({
      "Count words and lines": ["accepted", expect.stringContaining("wordcount.sh -w | grep -qx 3: exit")],
      "Say what went wrong": ["accepted", "a missing file does not end with exit code 1"],
      "Write the manual and the examples": ["decomposed"],
      "Write the manual": ["accepted"],
      "Add the examples": ["accepted"],
      "Read standard input for a single dash": ["accepted"],
    });
    const subjects = built.git("log", "--format=%s", "--reverse").split("\n");
    expect(subjects).toContain("ralph: task kill - Write the manual and the examples");
    expect(subjects).toContain("ralph: task decompose - Write the manual and the examples");
    expect(subjects.at(-1)).toBe("ralph: task accept - Read standard input for a single dash");
    expect(built.git("status", "--porcelain")).toBe("");
    const history = built.git("log", "-p", "--format=", "--", "ralph/plan.jsonl");
    expect(history).toMatch(/"kill": "timeout", "kill_log": "\.ralph\/runs\/\S+\/iteration-\d+\.log"/);
    expect(history).toMatch(/"name": "Add the examples".*"parent": "t-/);
    expect(history).toMatch(/"name": "Read standard input for a single dash".*"created_from": "i-/);
  }, 180_000);

  test("parks a task that is rejected three times and ends blocked", async () => {
    const { stderr, read } = await project(PLAN).agent("worker", "cat >/dev/null; ralph task done").args(
      "build",
      "--agent-cmd",
      "worker",
    ).expectExit(3);

    expect(read("ralph/plan.jsonl")?.match(/"t": "reject"/g)?.length).toBe(3);
    expect(stderr).toContain("t-1a2b");
    const again = await ralphCli().args("build").expectExit(2);
    expect(again.stderr).toContain("ralph/plan.jsonl does not exist");
  });

  test("a task that VERIFY rejected three times: the last line names the command that takes it up again", async () => {
    const given = '{"t": "reject", "id": "t-1a2b", "done_at": "abc", "reason": "never good"}\n'.repeat(2);
    const worker = `cat >/dev/null; [ $RALPH_STAGE = BUILD ] && touch a && exec ralph task done
      [ -f "$HOME/good" ] && echo "[RALPH] SPEC_COMPLETE" && exec ralph task accept
      exec ralph task reject t-1a2b "never good"`;
    const cli = project(PLAN + given).agent("worker", worker);

    const { stderr, root } = await cli.args("build", "--agent-cmd", "worker").expectExit(3);
    expect(stderr).toContain("  t-1a2b: rejected 3 times: never good\n");
    expect(stderr).toContain("hint: fix the cause, then `ralph build --agent-cmd worker --retry-blocked`\n");
    const again = await ralphCli(root).args("build", "--agent-cmd", "worker").expectExit(3);
    expect(again.stderr).toContain("--retry-blocked");

    writeFileSync(join(dirname(root), "home/good"), "");
    await ralphCli(root).args("build", "--agent-cmd", "worker", "--retry-blocked")
      .expectExit(0);
  });

  test(
    "a task that the loop gave up on is shown as parked by status, next and query, as `ralph build` sees it",
    async () => {
      const { root } = await project(PLAN).agent("worker", "cat > /dev/null").args("build", "--agent-cmd", "worker")
        .expectExit(3);

      const { stdout } = await ralphCli(root).args("status").expectExit(0);
      expect(stdout).toMatch(
        /▲ t-1a2b {2}.* parked: failed the same way 3 times: `ralph task done t-1a2b` was not run\n/,
      );
      expect(stdout).toMatch(/\nnext: `ralph build --retry-blocked`\n$/);
      const next = await ralphCli(root).args("next").expectExit(3);
      expect(next.stdout).toMatch(/^BUILD, but every task waits: t-1a2b: failed the same way 3 times/);
      const asked = await ralphCli(root).args("query", "next").expectExit(0);
      expect(JSON.parse(asked.stdout)).toEqual({
        action: "BUILD",
        task: null,
        blocked: [expect.stringMatching(/^t-1a2b: failed the same way 3 times/)],
      });
      const all = await ralphCli(root).args("query", "--text").expectExit(0);
      expect(all.stdout).toMatch(/▲ t-1a2b {2}.* parked: failed the same way 3 times/);
    },
  );

  test("a reviewer that changes code accepts nothing by it; what its tests leave behind is no change", async () => {
    const worker = (act: string): string =>
      `cat >/dev/null; [ $RALPH_STAGE = BUILD ] && touch a && exec ralph task done
       ${act}; exec ralph task accept`;

    const changed = await project(PLAN).agent("worker", worker("echo cheat >> specs/b.md"))
      .args("build", "--agent-cmd", "worker", "--max-iterations", "2").expectExit(1);
    expect(changed.stderr).toContain("it changed files, which a review does not do: specs/b.md");
    expect(changed.git("log", "--format=%s", "--", "specs/b.md")).toBe("start");

    const removed = await project(PLAN).agent("worker", worker("git rm -q specs/b.md"))
      .args("build", "--agent-cmd", "worker", "--max-iterations", "2").expectExit(1);
    expect(removed.stderr).toContain("it changed files, which a review does not do: specs/b.md");

    await project(PLAN).agent("worker", worker("echo a > coverage.txt")).args("build", "--agent-cmd", "worker")
      .expectExit(0);
  });

  test.each([
    ["a file", 1, "echo evil > evil.txt; git add evil.txt; git commit -qm evil"],
    ["a change and its removal", 0, "echo e > evil.txt; git add -A; git commit -qm evil; git revert --no-edit HEAD"],
  ])(
    "what VERIFY commits is off the branch before Ralph commits its answer, and kept: %s",
    async (_what, code, writes) => {
      const worker = `cat >/dev/null; case $RALPH_STAGE in VERIFY) ${writes}; exec ralph task accept;; esac
      touch a; exec ralph task done`;

      const { stderr, git } = await project(PLAN).agent("worker", worker)
        .args("build", "--agent-cmd", "worker", "--max-iterations", "2").expectExit(code);

      expect(git("log", "--format=%s")).not.toMatch(/evil/i);
      expect(git("ls-tree", "--name-only", "HEAD").split("\n")).not.toContain("evil.txt");
      expect(git("status", "--porcelain")).toBe("");

      expect(stderr).toMatch(/what the turns at VERIFY left is kept as refs\/ralph\/work\/\S+, and out of the tree/);
      expect(git("log", "--all", "--format=%B", "--glob=refs/ralph/work/*")).toContain("evil");
    },
    60_000,
  );

  test("what DECOMPOSE commits is taken off the branch", async () => {
    const killed = PLAN.replace('"s": "p"', '"s": "p", "kill": "timeout"');
    const worker = `cat >/dev/null; echo evil > evil.txt; git add evil.txt; git commit -qm evil
      exec ralph task add '{"name": "a part", "accept": "Verify: \`test -f a\`"}'`;

    const { stderr, git } = await project(killed).agent("worker", worker)
      .args("build", "--agent-cmd", "worker", "--max-iterations", "1").expectExit(1);

    expect(git("log", "--format=%s").split("\n")).toEqual(["ralph: task decompose - write a", "start"]);
    expect(git("ls-tree", "--name-only", "HEAD").split("\n")).not.toContain("evil.txt");
    expect(stderr).toContain("what the turns at DECOMPOSE:t-1a2b left is kept as refs/ralph/work/");
  }, 60_000);

  test("what INVESTIGATE commits is taken off the branch, and its answer counts for nothing", async () => {
    const worker = `cat > /dev/null
case $RALPH_STAGE in
  BUILD) touch a; ralph issue add look; exec ralph task done;;
  VERIFY) exec ralph task accept;;
esac
[ -f ../asked ] || { touch ../asked; echo x > hack; git add hack; git commit -qm hack; }
for id in $(ralph query issues | grep -o 'i-[0-9a-z]*'); do ralph issue done $id; done`;

    const { git, stderr } = await project(PLAN).agent("worker", worker).args("build", "--agent-cmd", "worker")
      .expectExit(0);

    expect(stderr).toContain("it changed files, which a review does not do: hack");
    expect(git("log", "--format=%s")).not.toContain("hack");
    expect(git("ls-tree", "--name-only", "HEAD").split("\n")).not.toContain("hack");
  }, 60_000);

  test(
    "a reviewer that says SPEC_INCOMPLETE has to say what is missing: its acceptance alone does not count",
    async () => {
      const worker = `cat >/dev/null; [ $RALPH_STAGE = BUILD ] && touch a && exec ralph task done
      echo "[RALPH] SPEC_INCOMPLETE"; exec ralph task accept`;

      const { stderr, read } = await project(PLAN).agent("worker", worker)
        .args("build", "--agent-cmd", "worker", "--max-iterations", "2").expectExit(1);

      expect(stderr).toContain(
        "it said SPEC_INCOMPLETE, and neither rejected a task nor added an issue for what is missing",
      );
      expect(read("ralph/plan.jsonl")).toContain('"id": "t-1a2b"');
    },
  );

  test("tasks that a planner writes into the plan by hand are taken up, and nothing else of its edit", async () => {
    const worker = `cat > /dev/null
      printf '%s\\n' '{"t": "spec", "spec": "b.md"}' '{"t": "task", "id": "t-hand", "spec": "b.md", "name": "by hand", "s": "d"}' > ralph/plan.jsonl`;

    const { read, git } = await project(PLAN).agent("worker", worker)
      .args("plan", "a.md", "--agent-cmd", "worker").expectExit(0);

    const plan = read("ralph/plan.jsonl") ?? "";
    expect(plan).toContain('"id": "t-1a2b"');
    expect(plan).toMatch(/"spec": "a.md", "name": "by hand", "s": "p"/);
    expect(plan).not.toContain("b.md");
    expect(git("log", "-1", "--format=%s")).toBe("ralph: task add - 1 task");
  });

  test("puts a manual edit of the plan back and takes it for a claim that the checks decide", async () => {
    const worker =
      'cat >/dev/null; if [ -f a ]; then ralph task accept; else touch a; sed -i \'s/"s": "p"/"s": "d"/\' ralph/plan.jsonl; fi';

    const { stderr, git } = await project(PLAN).agent("worker", worker).args("build", "--agent-cmd", "worker")
      .expectExit(0);

    expect(stderr).toContain("ralph/plan.jsonl");
    expect(git("log", "--format=%s")).toContain("feat: t-1a2b - write a");
  });

  test("build in the middle of a merge asks nothing before it says so", async () => {
    const { stderr } = await project(PLAN).dirty({ "ralph/plan.jsonl": `${PLAN}{"t": "note"}\n` })
      .before("git rev-parse HEAD > .git/MERGE_HEAD").agent("worker", "exit 9")
      .args("build", "--agent-cmd", "worker", "--non-interactive").expectExit(2);

    expect(stderr).toContain("error: a merge is in progress");
    expect(stderr).not.toContain("Commit now");
  });

  test("build asks before it commits a plan that was changed, and n leaves it alone", async () => {
    const { stderr, git } = await project(PLAN).dirty({ "ralph/plan.jsonl": `${PLAN}{"t": "note"}\n` })
      .agent("worker", "exit 9").args("build", "--ui", "plain", "--agent-cmd", "worker").stdin("n\n").expectExit(0);

    expect(stderr).toContain("plan.jsonl has uncommitted changes. Commit now?");
    expect(git("log", "-1", "--format=%s")).toBe("start");
  });

  test("build commits a changed plan as `ralph: update plan` where the answer is yes", async () => {
    const { git } = await project(PLAN).dirty({ "ralph/plan.jsonl": `${PLAN}{"t": "note"}\n` })
      .agent("worker", "cat >/dev/null").args(
        "build",
        "--ui",
        "plain",
        "--agent-cmd",
        "worker",
        "--max-iterations",
        "1",
      ).stdin("\n").expectExit(1);

    expect(git("log", "--format=%s")).toContain("ralph: update plan");
  });

  test("plan asks about unfinished tasks of another spec; c cancels them, a keeps them, nobody is exit 3", async () => {
    const planner = 'cat >/dev/null; ralph task add "write b"';
    const ask = (): Cli =>
      project(PLAN + TASK.replace("1a2b", "3c4d").replace('"s": "p"', '"s": "d"')).agent("worker", planner).args(
        "plan",
        "b.md",
        "--agent-cmd",
        "worker",
        "--ui",
        "plain",
      );

    const cancelled = await ask().stdin("c\n").expectExit(0);
    const kept = await ask().stdin("a\n").expectExit(0);
    const nobody = await ask().args("plan", "b.md", "--agent-cmd", "worker", "--non-interactive").expectExit(3);

    expect(cancelled.stderr).toContain("Found unfinished tasks from spec 'a.md':\n");
    expect(cancelled.stderr).toContain("  - [pending] t-1a2b: write a");
    expect(cancelled.stderr).toContain("  - [done] t-3c4d: write a");
    expect(cancelled.read("ralph/plan.jsonl")).toMatch(/^\{"t": "spec", "spec": "b.md"\}\n.*"name": "write b".*\n$/);
    expect(kept.read("ralph/plan.jsonl")).toContain("t-1a2b");
    expect(nobody.stderr).toContain("plan.unfinished");
  });

  test("a planner that changes code fails, and the code is shown", async () => {
    const { stderr } = await project(PLAN).agent("worker", "cat >/dev/null; echo x > code.txt").args(
      "plan",
      "a.md",
      "--agent-cmd",
      "worker",
    ).expectExit(1);

    expect(stderr).toContain("wrote outside the allowed paths: code.txt");
  });

  test("bare ralph is the build loop where the configuration says spec", async () => {
    const { stderr } = await project('{"t": "spec", "spec": "a.md"}\n').files({
      "ralph.config.json": '{"workflow": "spec", "provider": {"command": "worker"}}',
    })
      .agent("worker", "exit 9").args().expectExit(0);

    expect(stderr).toContain("▲ unverified: 0 verified in 0 iterations\n  COMPLETE\n");
  });
});

describe("the commands on the plan", () => {
  test("set-spec of a file that there is not is exit 2, and changes nothing", async () => {
    const { stderr, read } = await project(PLAN).args("set-spec", "nope.md").expectExit(2);

    expect(stderr).toContain("nope.md does not exist");
    expect(stderr).toContain("hint: specs are looked for here, then in ralph/specs and specs");
    expect(read("ralph/plan.jsonl")).toBe(PLAN);
  });

  test("refuse what cannot be, and leave the plan as it is", async () => {
    const cases: readonly (readonly [args: readonly string[], message: string])[] = [
      [
        ["task", "add", "b", "--deps", "t-none"],
        "error: there is no t-none in ralph/plan.jsonl\nhint: `ralph query` lists what there is\n",
      ],
      [["task", "add", '{"name": "b", "prio": 1}'], "error: the task: unknown key prio\n"],
      [["task", "add", '{"name": "b"'], "error: the task: is no valid JSON"],
      [
        ["task", "add", "two", "words"],
        'error: the task must be one argument (got 2)\nhint: quote it: `ralph task add "two words"`\n',
      ],
      [["task", "done", "t-none"], "error: no pending task has the id t-none\n"],
      [["task", "accept"], "error: no task is done\n"],
      [["task", "reject", "t-1a2b"], "error: why is t-1a2b rejected? A reason is needed\n"],
      [["task", "finish"], "error: `ralph task` has no `finish`\n"],
      [["issue", "done"], "error: there is no issue\n"],
      [["query", "task"], "error: `ralph query` has no part `task`\nhint: did you mean `ralph query tasks`?\n"],
      [["log", "--since", "gibberish"], "error: --since must be a date or a commit (got: gibberish)\n"],
      [["log", "--branch", "nowhere"], "error: there is no branch nowhere\n"],
      [["plan", "missing.md"], "error: the file missing.md does not exist\n"],
    ];
    const started = await project(PLAN).args("query", "stage").expectExit(0);
    for (const [args, message] of cases) {
      const { stderr } = await ralphCli(started.root).args(...args).expectExit(2);
      expect(stderr, args.join(" ")).toContain(message);
    }
    expect(started.read("ralph/plan.jsonl")).toBe(PLAN);
    expect(started.git("status", "--porcelain")).toBe("");
  });

  test("print what has changed, a line each, and with --json the task alone", async () => {
    const started = project(PLAN);

    const done = await started.args("task", "done").expectExit(0);
    expect(done.stdout).toBe("done t-1a2b  write a\n");

    const again = ralphCli(done.root);
    const added = await again.args("task", "add", "write b", "--json").expectExit(0);
    expect(JSON.parse(added.stdout)).toMatchObject({ t: "task", name: "write b", s: "p" });
    expect((await again.args("task", "reject", "t-1a2b", "no").expectExit(0)).stdout).toBe(
      "rejected t-1a2b  write a\n",
    );
    expect((await again.args("issue", "add", "slow").expectExit(0)).stdout).toMatch(/^added i-\w+ {2}slow\n$/);
    expect((await again.args("issue", "done").expectExit(0)).stdout).toMatch(/^done i-\w+ {2}slow\n$/);
    expect((await again.args("set-spec", "b.md").expectExit(0)).stdout).toBe("spec: b.md\n");
  });

  test("name a circle of dependencies", async () => {
    const batch = '{"id": "t-x", "name": "x", "deps": ["t-y"]}\n{"id": "t-y", "name": "y", "deps": ["t-x"]}\n';

    const { stderr } = await project(PLAN).args("task", "add", "-").stdin(batch).expectExit(2);

    expect(stderr).toBe(
      "error: the tasks would depend on each other in a circle: t-x → t-y → t-x\nhint: leave one of these dependencies out\n",
    );
  });

  test("report a line that cannot be read with its number and keep it", async () => {
    const { stderr, read } = await project(`${PLAN}{"t": "task", "id"\n`).args("task", "done").expectExit(0);

    expect(stderr).toContain("warning: ralph/plan.jsonl:3: expected one JSON object");
    expect(read("ralph/plan.jsonl")).toContain('{"t": "task", "id"\n');
  });

  test("a dependency that the plan has never had is named by validate and build, one that was accepted is not", async () => {
    const task = '{"t": "task", "id": "t-1a2b", "spec": "a.md", "name": "a", "deps": ["t-gone", "t-zzz"], "s": "p"}\n';
    const gone = '{"t":"task","id":"t-gone","spec":"a.md","name":"gone","s":"d","done_at":"abc"}\n';
    const cli = project(`{"t": "spec", "spec": "a.md"}\n${gone}${task}`)
      .before("sed -i /gone.*name/d ralph/plan.jsonl && git commit -qam accepted");
    const told = "line 2: t-1a2b depends on t-zzz, which the plan has never had: it counts as done";

    const { stdout, root } = await cli.args("validate", "--workflow", "spec").expectExit(0);
    expect(stdout).toContain(`warning: ${told}\n`);
    expect(stdout).not.toContain("t-gone");

    const { stderr } = await ralphCli(root).args("build", "--agent-cmd", "true", "--max-iterations", "1").expectExit(1);
    expect(stderr).toContain(`warning: ralph/plan.jsonl: ${told}\n`);
  });

  test("a merge conflict is recognised, and --repair merges task by task", async () => {
    const started = await project(PLAN)
      .before(
        'git checkout -q -b topic && echo \'{"t": "issue", "id": "i-2", "spec": "a.md", "desc": "theirs"}\' >> ralph/plan.jsonl && git commit -qam theirs',
      )
      .before(
        'git checkout -q main && sed -i /t-1a2b/d ralph/plan.jsonl && echo \'{"t": "issue", "id": "i-1", "spec": "a.md", "desc": "ours"}\' >> ralph/plan.jsonl && git commit -qam ours',
      )
      .before("git merge topic").args("query").expectExit(2);
    expect(started.stderr).toMatch(
      /^error: ralph\/plan.jsonl:2: git left a merge conflict here\nhint: `ralph query --repair` merges both sides, task by task\n$/,
    );

    const repaired = await ralphCli(started.root).args("query", "--repair").expectExit(0);

    expect(repaired.stderr).toContain("repaired and not committed, since a merge is in progress");
    expect(started.read("ralph/plan.jsonl")).toMatch(/^\{"t": "spec".*\n.*"ours"\}\n.*"theirs"\}\n$/);
  });
});
