import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { type Cli, type CliResult, ralphCli } from "./cli.ts";
import type { RunReport } from "../../lib/report/types.ts";
import { isAlive } from "../fault/processes.ts";

const DIRECTORY = ".claude/sprints/test-ralph";
const PROGRESS = `${DIRECTORY}/PROGRESS.yaml`;

interface Progress {
  readonly status: string;
  readonly "human-needed"?: string;
  readonly "dynamic-steps": readonly { readonly id: string; readonly prompt: string; readonly status: string }[];
  readonly "hook-tasks": readonly {
    readonly iteration: number;
    readonly "hook-id": string;
    readonly status: string;
    readonly pid: number | null;
    readonly "exit-code": number | null;
    readonly log: string;
  }[];
  readonly "ralph-exit": { readonly iteration: number; readonly "final-summary": string; readonly verified?: boolean };
  readonly stats: { readonly "current-iteration": number };
}

function sprint(definition: string, files: Readonly<Record<string, string>> = {}): Cli {
  return ralphCli().files({
    [`${DIRECTORY}/SPRINT.yaml`]: definition,
    "ralph.config.json": '{ "provider": { "command": "worker" } }',
    ...files,
  });
}

function progressOf(result: Pick<CliResult, "read">): Progress {
  return parse(result.read(PROGRESS) ?? "") as Progress;
}

function stepsOf(progress: Progress): readonly string[] {
  return progress["dynamic-steps"].map(({ id, prompt, status }) => `${id} ${prompt} ${status}`);
}

const HELLO = `workflow: ralph
goal: |
  Create a hello world TypeScript function with tests

per-iteration-hooks:
  learning:
    enabled: true
`;

test("`ralph plan DIR` compiles a sprint and `ralph run DIR` works on it, beside another workflow", async () => {
  const feature = { ".ralph/2024-01-15-auth/prd.md": "# Auth" };
  const planned = await sprint(HELLO, feature).args("plan", DIRECTORY).expectExit(0);
  expect(planned.read(PROGRESS)).toContain("hello world");

  await ralphCli(planned.root).args("run", DIRECTORY, "--agent-cmd", "cat >/dev/null; echo 'RALPH_COMPLETE: ok'")
    .expectExit(0);
  expect(progressOf(planned).status).toBe("completed");
  await ralphCli(planned.root).args("run", ".claude/sprints/none").expectExit(2);
});

describe("ralph sprint run", () => {
  test.each([["--parallel", "2"], ["--queue", "postgres://x"], ["--any-order"]])(
    "has no flag for work at once, and says so before it writes anything: %s",
    async (...flags) => {
      const { stderr, read } = await sprint(HELLO).args("sprint", "run", DIRECTORY, ...flags).expectExit(2);

      expect(stderr).toContain(`unknown flag \`${flags[0]}\``);
      expect(read(PROGRESS)).toBeNull();
    },
  );

  test("an iteration without a check of its own is called unverified by the verdict alone", async () => {
    const definition = "workflow: ralph\ngoal: g\nper-iteration-hooks:\n  learning: { enabled: false }\n";
    const config = { "ralph.config.json": `{ "verify": { "default": ["test -f ${DIRECTORY}/SPRINT.yaml"] } }` };
    const { stderr } = await sprint(definition, config)
      .args("sprint", "run", DIRECTORY, "--agent-cmd", "cat >/dev/null; echo 'RALPH_COMPLETE: ok'").expectExit(0);

    expect(stderr).toContain("done, no check ran");
    expect(stderr).not.toContain("unverified");
  });

  test("the seed's own verification, with two parallel hooks and a blocking one, driven by a scripted agent", async () => {
    const definition = HELLO.replace("workflow: ralph", "workflow: hello").replace(
      "per-iteration-hooks:\n",
      "per-iteration-hooks:\n  doc-update: { enabled: true }\n",
    );
    const result = await sprint(definition, {
      "ralph.config.json": '{ "verify": { "default": ["test -f hello.test.ts"] } }',
      ".claude/workflows/hello.yaml": `mode: ralph
per-iteration-hooks:
  - { id: learning, workflow: "m42-signs:learning-extraction", parallel: true, enabled: false }
  - { id: doc-update, workflow: doc-update, parallel: true, enabled: false }
  - { id: count, prompt: "Count the words of $ITERATION_TRANSCRIPT", parallel: false, enabled: true }
  - { id: never, prompt: never, parallel: true, enabled: false }
`,
      ".claude/workflows/doc-update.yaml": "prompt: Update the documentation.\n",
      "turns.yaml": `turns:
  - { match: "/^\\\\/m42-signs:learning-extraction \\\\S+\\\\/transcripts\\\\/iteration-\\\\d+\\\\.jsonl$/", times: any, say: learned }
  - { match: "/^Update the documentation/", times: any, run: "echo doc >> $(basename $ITERATION_TRANSCRIPT .jsonl)-docs.md" }
  - { match: "/^Count the words of \\\\S+iteration-\\\\d+\\\\.jsonl$/", times: any, run: "wc -w < $ITERATION_TRANSCRIPT >> counts.txt" }
  - { match: "# Analyse the goal", run: ["ralph step add 'write hello.ts'", "ralph step add 'test hello.ts'"], say: planned }
  - { match: "step-1: write hello.ts", write: { hello.ts: "export const hello = 1;\\n" }, run: ralph step done step-1, say: done }
  - { match: "step-2: test hello.ts", write: { hello.test.ts: "test\\n" }, run: ralph step done, say: done }
  - { match: "# Analyse the goal", times: 2, say: nothing more }
  - { match: "# Reflect", say: ["All is there.", "RALPH_COMPLETE: hello world, tested"] }
`,
    }).args("sprint", "run", DIRECTORY, "--agent", "scripted", "--script", "turns.yaml").expectExit(0);

    const progress = progressOf(result);
    expect(result.stderr).toContain("compiled .claude/sprints/test-ralph/PROGRESS.yaml from the workflow hello");
    expect(
      [...result.stderr.matchAll(/^(planning|executing|reflecting) \S+: .*\(attempt 1\)$/gm)].map((
        [, mode],
      ) => mode),
    )
      .toEqual(["planning", "executing", "executing", "planning", "planning", "reflecting"]);
    expect(stepsOf(progress)).toEqual(["step-1 write hello.ts completed", "step-2 test hello.ts completed"]);
    expect(result.stderr).toContain("passed: 2 verified in 6 iterations");
    const { stdout } = await ralphCli(result.root).args("report", "--format", "json").expectExit(0);
    const { counts, items } = JSON.parse(stdout) as RunReport;
    expect(counts).toEqual({ verified: 2, unverified: 0, parked: 0, open: 0 }); // no turn that planned
    expect(items.map(({ state }) => state)).not.toContain("unverified");
    const tasks = progress["hook-tasks"];
    expect(tasks.map((task) => `${task.iteration} ${task["hook-id"]} ${task.status} ${task["exit-code"]}`).toSorted())
      .toEqual(
        [1, 2, 3, 4, 5, 6].flatMap((iteration) =>
          ["count", "doc-update", "learning"].map((id) => `${iteration} ${id} completed 0`)
        ),
      );
    for (const { log } of tasks) expect(result.read(join(DIRECTORY, log))).not.toBeNull();
    expect(progress["ralph-exit"]).toMatchObject({
      iteration: 6,
      "final-summary": "hello world, tested",
      verified: true,
    });
    expect(progress.status).toBe("completed");
    const subjects = result.git("log", "--format=%s").split("\n");
    expect(subjects).toEqual(
      expect.arrayContaining([
        "feat: step-1 - write hello.ts",
        "feat: step-2 - test hello.ts",
        "hook: doc-update (iteration 1)",
        "hook: doc-update (iteration 6)",
        "hook: count (iteration 3)",
      ]),
    );
    expect(result.read("iteration-6-docs.md")).toBe("doc\n");
    expect(result.read("counts.txt")?.trim().split("\n")).toHaveLength(6);
    expect(result.git("worktree", "list").split("\n")).toHaveLength(1);
    expect(result.git("status", "--porcelain")).toBe("");
  });

  test("a hook that is the command of a plugin which the agent does not know, or has not, is named before the first turn", async () => {
    const done = "cat >/dev/null; echo 'RALPH_COMPLETE: ok'";
    const told = "the hook learning is `/m42-signs:learning-extraction`, a command of the Claude Code plugin m42-signs";
    const stream =
      `cat >/dev/null; echo '{"type":"result","subtype":"success","is_error":false,"result":"RALPH_COMPLETE: ok"}'`;
    const plugins = `{"version":2,"plugins":{"m42-signs@m42":[{"scope":"user"}]}}`;

    const other = await sprint(HELLO).agent("worker", done).args("sprint", "run").expectExit(0);
    expect(other.stderr).toContain(`warning: ${told}: the agent worker does not know it; a \`prompt\` in SPRINT.yaml`);
    const claude = sprint(HELLO, { "ralph.config.json": '{ "provider": { "preset": "claude" } }' }).agent(
      "claude",
      stream,
    );
    const missing = await claude.args("sprint", "run").expectExit(0);
    expect(missing.stderr).toContain(`warning: ${told}, which is not installed: \`claude plugin install m42-signs\``);

    const progress = join(missing.root, PROGRESS);
    writeFileSync(progress, readFileSync(progress, "utf8").replace("status: completed", "status: in-progress"));
    const folder = join(dirname(missing.root), "home/.claude/plugins");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "installed_plugins.json"), plugins);
    const installed = await ralphCli(missing.root).args("sprint", "run").expectExit(0);
    expect(installed.stderr).not.toContain("m42-signs");
  });

  test("an echo of the prompt's own instruction does not end the loop", async () => {
    const { stderr } = await sprint(HELLO.replace("enabled: true", "enabled: false"))
      .agent(
        "worker",
        "cat; echo 'When it is reached I will print RALPH_COMPLETE: [summary]'; echo 'RALPH_COMPLETE: [summary]'; date > t.txt; sleep 0.01; date +%N >> t.txt",
      )
      .args("sprint", "run", DIRECTORY, "--max-iterations", "2").expectExit(1);

    expect(stderr).toContain("limit reached: 2 iterations");
  });

  test.each([
    [
      "a line",
      `echo "RALPH_COMPLETE: said \\"it's done\\": key: value # 🎉 - [x]"`,
      `said "it's done": key: value # 🎉 - [x]`,
    ],
    [
      "JSON",
      `printf '%s\\n' '{"status":"goal-complete","summary":"s","goalCompleteSummary":"one: \\"two\\"\\n  three 🎉\\n"}'`,
      'one: "two"\n  three 🎉\n',
    ],
  ])("a summary with quotes, colons, newlines and emoji survives (%s)", async (_form, say, summary) => {
    const result = await sprint("workflow: ralph\ngoal: g\n").agent("worker", `cat >/dev/null; ${say}`).args(
      "sprint",
      "run",
      DIRECTORY,
    ).expectExit(0);

    expect(progressOf(result)["ralph-exit"]["final-summary"]).toBe(summary);
  });

  test("twelve steps called step-1 are given ids of their own and completed one at a time", async () => {
    const steps = Array.from(
      { length: 12 },
      (_, index) =>
        `  - { id: step-1, prompt: "part ${index + 1}", status: completed, completed-at: "2026-01-20T09:00:00Z" }\n`,
    ).join("");
    const result = await sprint("workflow: ralph\ngoal: g\n", {
      [PROGRESS]: `# by hand\nmode: ralph\ngoal: g\nstatus: in-progress\nteam: [ada] # keep\ndynamic-steps:\n${steps}`,
    }).agent(
      "worker",
      `prompt=$(cat); echo "$RALPH_ITEM" >> worked.txt
case "$prompt" in *"# Carry out one step"*) printf '{"status":"continue","completedStepIds":["%s"]}\\n' "$RALPH_ITEM";; *) echo "RALPH_COMPLETE: all parts";; esac`,
    )
      .args("sprint", "run", DIRECTORY).expectExit(0);

    expect(stepsOf(progressOf(result))).toEqual(
      Array.from({ length: 12 }, (_, index) => `step-${index + 1} part ${index + 1} completed`),
    );
    expect(result.read("worked.txt")?.split("\n").slice(0, 12)).toEqual([
      ...Array.from({ length: 11 }, (_, index) => `step-${index + 2}`),
      "planning-12",
    ]);
    expect(result.read(PROGRESS)).toContain("# by hand\n");
    expect(result.read(PROGRESS)).toContain("team: [ ada ] # keep");
  });

  test("needs-human ends with 3, again with 3, and continues with --retry-blocked", async () => {
    const cli = sprint("workflow: ralph\ngoal: g\n").agent(
      "worker",
      `cat >/dev/null
if [ -f asked ]; then echo "RALPH_COMPLETE: yes"; else touch asked; sed -i 's/^status: .*/status: needs-human/' ${PROGRESS}; fi`,
    );
    const first = await cli.args("sprint", "run", DIRECTORY).expectExit(3);
    expect(first.stderr).toContain("a person is needed: it set `status: needs-human`");
    expect(progressOf(first).status).toBe("needs-human");

    await ralphCli(first.root).args("sprint", "run", DIRECTORY).expectExit(3);
    const last = await ralphCli(first.root).args("sprint", "run", "--retry-blocked").expectExit(0);
    expect(progressOf(last)).toMatchObject({ status: "completed", "ralph-exit": { "final-summary": "yes" } });
  });

  test("Ctrl-C ends hooks that are at work, and says so in PROGRESS.yaml", async () => {
    const running = sprint(
      "workflow: ralph\ngoal: g\nper-iteration-hooks:\n  - { id: slow, command: 'echo $$ > \"$RALPH_ROOT/pid.txt\"; sleep 60 & wait' }\n",
    )
      .agent("worker", "cat >/dev/null; [ -f second ] && sleep 60; touch second").args("sprint", "run", DIRECTORY)
      .start();
    await running.wrote("pid.txt");
    running.child.kill("SIGINT");
    const result = await running.ended();

    expect(result.exitCode).toBe(130);
    const pid = result.read("pid.txt") ?? "";
    expect(isAlive(Number(pid))).toBe(false);
    expect(progressOf(result)["hook-tasks"]).toMatchObject([{
      iteration: 1,
      "hook-id": "slow",
      status: "interrupted",
      pid: Number(pid),
    }]);
    expect(result.git("worktree", "list").split("\n")).toHaveLength(1);
  });

  test("after kill -9 the counters continue, hooks that were interrupted run again, and nothing is overwritten", async () => {
    const cli = sprint(
      'workflow: ralph\ngoal: g\nper-iteration-hooks:\n  - { id: slow, command: \'echo $$ > "$RALPH_ROOT/pid.txt"; [ $RALPH_ITERATION != 1 ] || [ -f "$RALPH_ROOT/killed" ] || sleep 60; date > hook-$RALPH_ITERATION.txt\' }\n  - { id: here, isolated: false, command: \'[ $RALPH_ITERATION != 1 ] || [ -f "$RALPH_ROOT/killed" ] || sleep 60\' }\n',
    )
      .agent(
        "worker",
        'cat >/dev/null; echo "turn of $RALPH_RUN"; if [ -f second ] && [ ! -f killed ]; then sleep 60; fi; touch second; date +%N > x.txt; [ ! -f killed ] || echo "RALPH_COMPLETE: in the end"',
      );
    const running = cli.args("sprint", "run", DIRECTORY).start();
    await running.wrote("pid.txt");
    await running.wrote(`${DIRECTORY}/transcripts/iteration-2.jsonl`);
    running.child.kill("SIGKILL");
    await running.ended();
    spawnSync("touch", [join(running.root, "killed")]);
    const first = readFileSync(join(running.root, DIRECTORY, "transcripts/iteration-1.jsonl"), "utf8");

    const result = await ralphCli(running.root).args("sprint", "run", DIRECTORY).expectExit(0);

    expect(
      progressOf(result)["hook-tasks"].map((task) => `${task.iteration} ${task["hook-id"]} ${task.status}`).toSorted(),
    )
      .toEqual(["1 here interrupted", "1 slow completed", "3 here completed", "3 slow completed"]);
    expect(result.stderr).toContain(
      "the hook here of iteration 1 was interrupted in the project's own tree: it is not started again",
    );
    expect(result.git("show", "--stat", "--format=", "HEAD^{/hook: slow .iteration 1.}")).toContain("hook-1.txt");
    expect(progressOf(result).stats["current-iteration"]).toBe(3);
    expect(result.read(`${DIRECTORY}/transcripts/iteration-1.jsonl`)).toBe(first);
    expect(result.git("worktree", "list").split("\n")).toHaveLength(1);
  });

  test("a failed hook is reported with its exit code and does not stop the loop; hooks of their own agent, and of shell", async () => {
    const result = await sprint(`workflow: ralph
goal: g
per-iteration-hooks:
  - { id: fails, command: "echo to the log; exit 9", parallel: true }
  - { id: other, prompt: "say hi to $ITERATION_TRANSCRIPT", agent-command: other, parallel: false }
`).agent("worker", "cat >/dev/null; echo 'RALPH_COMPLETE: ok'").agent("other", "cat").args("sprint", "run", DIRECTORY)
      .expectExit(0);

    const [fails, other] = progressOf(result)["hook-tasks"].toSorted((one, two) =>
      one["hook-id"].localeCompare(two["hook-id"])
    );
    expect(fails).toMatchObject({ status: "failed", "exit-code": 9 });
    expect(result.stderr).toContain("hook fails (iteration 1): failed: exit 9");
    expect(result.read(`${DIRECTORY}/logs/hook-iter1-fails.log`)).toBe("to the log\n");
    expect(other).toMatchObject({ status: "completed", "exit-code": 0 });
    expect(other?.pid).toBeGreaterThan(0);
    expect(result.read(`${DIRECTORY}/logs/hook-iter1-other.log`)).toBe(
      `say hi to ${result.root}/${DIRECTORY}/transcripts/iteration-1.jsonl`,
    );
  });

  test("is refused for a phase without an id, a folder that is not there, and one outside the root", async () => {
    const cli = sprint("workflow: w\ngoal: g\n", { ".claude/workflows/w.yaml": "phases: [{ prompt: a }]\n" });
    const refused = await cli.args("sprint", "run", DIRECTORY).expectExit(2);
    expect(refused.stderr).toContain("MISSING_PHASE_ID: .claude/workflows/w.yaml:1: a phase needs an `id`");

    expect((await ralphCli(refused.root).args("sprint", "run", "nowhere").expectExit(2)).stderr).toContain(
      "there is no folder nowhere",
    );
    expect((await ralphCli(refused.root).args("sprint", "run", "..").expectExit(2)).stderr).toContain("is outside");
  });
});

describe("ralph sprint compile and status", () => {
  test("compile says what it made, run from anywhere in the project; status shows the progress", async () => {
    const compiled = await sprint(HELLO).in(DIRECTORY).args("sprint", "compile", ".").expectExit(0);

    expect(compiled.stderr).toBe(`✓ ${PROGRESS} written (workflow ralph, built-in)
  hook learning: after each iteration, beside what follows
  hook documentation: off
  hook tests: off
next: \`ralph sprint run ${DIRECTORY}\`
`);
    const { stdout } = await ralphCli(compiled.root).args("sprint", "status").expectExit(0);
    expect(stdout).toBe(`test-ralph not-started · ${DIRECTORY}
goal: Create a hello world TypeScript function with tests
iteration 0, 0/0 steps completed
`);
    const json = await ralphCli(compiled.root).args("sprint", "status", DIRECTORY, "--json").expectExit(0);
    expect(JSON.parse(json.stdout)).toMatchObject({ directory: DIRECTORY, status: "not-started", steps: [] });
  });

  test("compile says every problem at once and writes nothing", async () => {
    const { stderr, read } = await sprint("workflow: ralph\nper-iteration-hooks:\n  nope: { enabled: true }\n").args(
      "sprint",
      "compile",
      DIRECTORY,
    ).expectExit(2);

    expect(stderr).toBe(`error: ${DIRECTORY}/SPRINT.yaml: 2 problems
  RALPH_MISSING_GOAL: a sprint in ralph mode needs a goal
  RALPH_INVALID_HOOK_OVERRIDE: the built-in workflow has no hook nope: it has learning, documentation, tests
hint: docs/guides/sprint.md describes the files
`);
    expect(read(PROGRESS)).toBeNull();
  });
});

test("ralph status shows the sprints where there is nothing else; ralph run says which command is meant", async () => {
  const { root, stdout } = await sprint(HELLO, {
    "ralph.config.json": "{}",
    [PROGRESS]: "mode: ralph\ngoal: g\nstatus: in-progress\n",
    ".claude/sprints/b/PROGRESS.yaml": "mode: ralph\n  x: [",
    ".claude/sprints/c/SPRINT.yaml": "goal: c\n",
  })
    .args("status").expectExit(0);

  expect(stdout).toContain(`sprint in-progress · ${DIRECTORY}\ngoal: g\n`);
  expect(stdout).toContain(".claude/sprints/b/PROGRESS.yaml: line 1: ");
  expect(stdout).toContain(".claude/sprints/c: not compiled\n");
  expect((await ralphCli(root).args("run", "--agent-cmd", "true").expectExit(2)).stderr).toContain(
    "hint: name the sprint's folder: `ralph sprint run DIR`",
  );
});

describe("ralph step", () => {
  test("adds, completes one and lists, in the sprint that is named, that the agent is in, or that is the only one", async () => {
    const { root } = await sprint(HELLO).args("sprint", "compile", DIRECTORY).expectExit(0);
    const step = (...args: string[]): Cli => ralphCli(root).args("step", ...args);

    expect((await step("add", 'first: "quoted" 🎉').expectExit(0)).stdout).toBe("step-1\n");
    expect((await step("add", "-", "--sprint", DIRECTORY).stdin("two\nlines\n").expectExit(0)).stdout).toBe("step-2\n");
    expect(
      (await step("done", "step-2").env({ RALPH_SPRINT: join(root, DIRECTORY) }).in(".claude").expectExit(0)).stdout,
    ).toBe("step-2 completed\n");
    expect((await step("done", "step-2").expectExit(0)).stdout).toBe("step-2 was completed already\n");
    expect((await step("list").expectExit(0)).stdout).toBe('○ step-1  first: "quoted" 🎉\n✓ step-2  two\n');
    expect((await step("done").expectExit(0)).stdout).toBe("step-1 completed\n");
    expect(JSON.parse((await step("list", "--json").expectExit(0)).stdout)).toMatchObject([{
      id: "step-1",
      status: "completed",
    }, { id: "step-2" }]);
    expect((await step("done", "step-9").expectExit(2)).stderr).toContain("there is no step step-9");
    expect((await step("done").expectExit(2)).stderr).toContain("no step is pending");
    expect((await step("ad", "x").expectExit(2)).stderr).toContain("did you mean `ralph step add`?");
  });

  test("many at once lose nothing", async () => {
    const { root, read } = await sprint(HELLO).args("sprint", "compile", DIRECTORY).expectExit(0);

    await Promise.all(
      Array.from({ length: 6 }, (_, index) => ralphCli(root).args("step", "add", `s${index}`).expectExit(0)),
    );

    const steps = (parse(read(PROGRESS) ?? "") as Progress)["dynamic-steps"];
    expect(steps.map(({ id }) => id)).toEqual(["step-1", "step-2", "step-3", "step-4", "step-5", "step-6"]);
    expect(steps.map(({ prompt }) => prompt).toSorted()).toEqual(["s0", "s1", "s2", "s3", "s4", "s5"]);
  });

  test("with more than one sprint it asks which", async () => {
    const cli = sprint(HELLO, { [PROGRESS]: "mode: ralph\n", ".claude/sprints/b/PROGRESS.yaml": "mode: ralph\n" });
    const { stderr, root } = await cli.args("step", "list").expectExit(2);

    expect(stderr).toContain("there is more than one sprint: .claude/sprints/b, .claude/sprints/test-ralph");
    expect(existsSync(join(root, PROGRESS))).toBe(true);
  });
});
