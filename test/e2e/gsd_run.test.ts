import { describe, expect, test } from "vitest";
import { ONE, planText, PROJECT, STATE, summaryOf, THREE, TWO } from "../workflows/gsd/planning.ts";
import { type Cli, CONSENT, ralphCli } from "./cli.ts";

const CHECKPOINT = '<task type="checkpoint:human-verify" gate="blocking">\n  <name>Look at two.txt</name>\n</task>';
const FILES = {
  ...PROJECT,
  [TWO]: planText("two.txt", { task: CHECKPOINT }),
  [THREE]: planText("three.txt", {
    verification: '<check name="whole">\n<command>grep -q whole three.txt</command>\n<expect>exit 0</expect>\n</check>',
  }),
};

/** A worker that does what the plan in its prompt asks for; `body` comes first. */
function worker(body = ""): string {
  return [
    "prompt=$(cat)",
    body,
    `case "$prompt" in`,
    `*"Plan Location"*01-01-PLAN*) case "$prompt" in *"attempt 1"*) echo wrong > one.txt;; *) echo right > one.txt;; esac; echo ok > ${
      summaryOf(ONE)
    };;`,
    `*"Plan Location"*01-02-PLAN*) echo right > two.txt; git add two.txt; git commit -qm "feat(01-02): Write two.txt"; echo ok > ${
      summaryOf(TWO)
    };;`,
    `*"Plan Location"*02-01-PLAN*) echo right > three.txt; [ -f whole ] && echo whole >> three.txt; echo ok > ${
      summaryOf(THREE)
    };;`,
    "esac",
    `printf '%s\\n' "$prompt" | grep -o '###PLAN_COMPLETE [a-z0-9]*###' | head -1`,
    'echo "That is all."',
  ].join("\n");
}

function project(
  files: Readonly<Record<string, string | null>> = FILES,
  script: string = worker(),
  config: object = {},
): Cli {
  const present = Object.entries(files).filter((entry): entry is [string, string] => entry[1] !== null);
  return ralphCli().files({
    ...Object.fromEntries(present),
    "ralph.config.json": JSON.stringify({ provider: { command: "worker" }, ...config }),
  }).agent("worker", script);
}

describe("ralph run --loop", () => {
  test("a task failing once, a checkpoint skipped, a plan that stops the loop; then resumed to the end", async () => {
    const first = await project().args("run", "--loop").expectExit(1);

    expect(first.stderr).toBe(
      `STATE.md is at phase 1; 01-01 is the first plan from there on that is not complete
workflow gsd (\`--loop\`)
agent worker (ralph.config.json)
run: gsd in [ROOT] with worker, logs in [ROOT]/.ralph/runs/[RUN]
plan 01-01: One (attempt 1, 0 of 3 done)
  agent worker: started, transcript in .ralph/runs/[RUN]/iteration-1.log
  agent worker: completed ([TIME])
  check failed: task 1: grep -q right one.txt (exit 1, [TIME])
warning: .planning/phases/01-base/01-01-SUMMARY.md is of a plan that was not verified: moved to [ROOT]/.ralph/runs/[RUN]/moved-aside/1-01-01-SUMMARY.md
  commit [COMMIT]: docs(01-01): attempt failed
plan 01-01: failed: task 1: grep -q right one.txt: exit 1 ([TIME])
plan 01-01: One (attempt 2, 0 of 3 done)
  agent worker: started, transcript in .ralph/runs/[RUN]/iteration-2.log
  agent worker: completed ([TIME])
  check passed: task 1: grep -q right one.txt ([TIME])
  commit [COMMIT]: feat(01-01): One
plan 01-01: verified ([TIME])
plan 01-02: Two (attempt 1, 1 of 3 done)
  agent worker: started, transcript in .ralph/runs/[RUN]/iteration-3.log
  agent worker: completed ([TIME])
  check passed: task 1: grep -q right two.txt ([TIME])
warning: 01-02: 1 checkpoint was left out, no one saw: Look at two.txt
  commit [COMMIT]: feat(01-02): Two
plan 01-02: verified ([TIME])
plan 02-01: Three (attempt 1, 2 of 3 done)
  agent worker: started, transcript in .ralph/runs/[RUN]/iteration-4.log
  agent worker: completed ([TIME])
  check passed: task 1: grep -q right three.txt ([TIME])
  check failed: plan whole: grep -q whole three.txt (exit 1, [TIME])
warning: .planning/phases/02-more/02-01-SUMMARY.md is of a plan that was not verified: moved to [ROOT]/.ralph/runs/[RUN]/moved-aside/4-02-01-SUMMARY.md
  commit [COMMIT]: docs(02-01): blocked
plan 02-01: failed: 02-01: the plan's verification failed: plan whole: grep -q whole three.txt: exit 1 ([TIME])

✗ failed: 2 verified in 4 iterations
  verified  01-01, 01-02
  02-01: the plan's verification failed: plan whole: grep -q whole three.txt: exit 1
  branch    main since ${first.git("rev-parse", "--short=7", ":/^start")}: 5 commits, 2 files, +2 -0
  used      [TIME], tokens unknown, cost unknown
hint: \`ralph status\` shows the progress, \`ralph report\` what was done; \`ralph run --loop\` continues
`,
    );
    expect(first.read(summaryOf(TWO))).toContain(
      "## Skipped checkpoints\n\nLeft out, since no one was watching:\n\n- Look at two.txt\n",
    );
    expect(first.read(summaryOf(THREE))).toBe(null);
    expect(first.read(".planning/STATE.md")).toMatch(
      /Phase: 2 of 2 \(More\)\nPlan: 1 of 1 in current phase\nStatus: BLOCKED - 02-01: the plan's verification failed: plan whole: grep -q whole three.txt: exit 1\nLast activity: \d{4}-\d\d-\d\d — Plan 02-01, attempt 1 failed: stopped\n\nProgress: \[██████░░░░\] 67%\n/,
    );

    const second = await ralphCli(first.root).dirty({ whole: "" }).args("run", "--loop").expectExit(0);

    expect(second.stderr).toMatch(
      /✓ passed: 1 verified in 1 iteration\n {2}verified {2}02-01\n {2}every plan is complete\n {2}branch /,
    );
    expect(second.read(".planning/ROADMAP.md")).toContain("- [x] 02-01-PLAN.md — Three\n");
    expect(second.read(".planning/ROADMAP.md")).toMatch(
      /\| 1\. Base \| 2\/2 \| Complete \| \d{4}-\d\d-\d\d \|\n\| 2\. More \| 1\/1 \| Complete \|/,
    );
    expect(second.read(".planning/STATE.md")).toMatch(
      /Status: Phase complete\n.*\n\nProgress: \[██████████\] 100%\n\n## Decisions/,
    );
    expect(second.git("log", "--format=%s").split("\n")).toEqual([
      "feat(02-01): Three",
      "docs(02-01): blocked",
      "feat(01-02): Two",
      "feat(01-02): Write two.txt",
      "feat(01-01): One",
      "docs(01-01): attempt failed",
      "start",
    ]);
    expect(second.git("status", "--short")).toBe("?? whole");

    const third = await ralphCli(first.root).args("run", "--loop").expectExit(0);

    expect(third.stderr).toMatch(/✓ passed: 0 verified in 0 iterations\n {2}every plan is complete\n$/);
  });

  test("killed after the agent wrote its SUMMARY: the plan is not complete, and is taken up again", async () => {
    const killed = await project(
      { [ONE]: PROJECT[ONE]!, ".planning/STATE.md": STATE },
      `echo ok > ${summaryOf(ONE)}; git add -A; git commit -qm done; kill -9 $PPID; sleep 30`,
    ).args("run", "--loop", "--no-sandbox").start().ended(); // in a sandbox Ralph is not its parent
    const status = await ralphCli(killed.root).args("status").expectExit(0);
    const next = await ralphCli(killed.root).args("next").expectExit(0);
    const again = await ralphCli(killed.root).agent("worker", worker().replace('"attempt 1"', '"attempt 9"')).args(
      "run",
      "--loop",
    ).expectExit(0);

    expect(killed.exitCode).not.toBe(0);
    expect(status.stdout).toContain("plans: 0/1 complete, 1 open\n");
    expect(status.stdout).toContain(`${summaryOf(ONE)}: of an attempt that has not ended: it completes nothing`);
    expect(next.stdout).toMatch(/^01-01 {2}/);
    expect(again.stderr).toMatch(
      /warning: .*01-01-SUMMARY\.md is of a plan that was not verified: moved to [^]*01-01 was interrupted in attempt 1[^]*check passed: task 1: grep -q right one\.txt/,
    );
    expect(again.git("log", "--format=%s").split("\n").slice(0, 3)).toEqual([
      "feat(01-01): Make one.txt.",
      "docs: SUMMARY of an unverified plan moved aside",
      "done",
    ]);
    expect(again.git("status", "--short")).toBe("");
  });

  test.each([["--loop", "1"], ["--loop=1"]])(
    "%s %s takes up one plan and is exhausted with plans left",
    async (...args) => {
      const { stderr, read } = await project().args("run", ...args).expectExit(1);

      expect(stderr).toContain("▲ exhausted: 1 verified in 2 iterations\n  verified  01-01\n  limit reached: 1 item\n");
      expect(read(summaryOf(TWO))).toBe(null);
    },
  );

  test("nothing of a plan is executed but <command> and <automated>", async () => {
    const planted = (where: string): string =>
      `touch ${where}; \`touch ${where}\` $(touch ${where}) <command>touch ${where}</command> <automated>touch ${where}</automated>`;
    const plan = [
      "---",
      `type: execute ${planted("p1")}`,
      "---",
      "<objective>",
      planted("p2"),
      "</objective>",
      "<context>",
      `@$(touch p3)`,
      planted("p3"),
      "</context>",
      '<task type="auto">',
      `<name>$(touch p4) ${planted("p4")}</name>`,
      "<files>",
      planted("p5"),
      "</files>",
      "<action>",
      planted("p6"),
      "<verify>",
      planted("p6"),
      "</verify>",
      "</action>",
      "<verify>",
      planted("p7"),
      "touch p8",
      "`touch p8`",
      "```bash",
      "touch p9",
      planted("p9"),
      "```",
      "<human-check>touch p10</human-check>",
      "<automated>touch ran-task</automated>",
      "<command>touch p11</command><expect>a nice page</expect>",
      "</verify>",
      "<done>",
      planted("p12"),
      "</done>",
      "</task>",
      "<verification>",
      "- [ ] touch p13",
      "touch p13",
      "<command>touch ran-plan</command>",
      "</verification>",
      "<success_criteria>",
      planted("p14"),
      "</success_criteria>",
    ].join("\n");
    const { stderr, git } = await project({ [ONE]: plan }, worker(`echo ok > ${summaryOf(ONE)}`)).args("run")
      .expectExit(0);

    expect(
      git("ls-files", "--others", "--cached", "--exclude-standard").split("\n").filter((path) =>
        !path.startsWith(".") && path !== "ralph.config.json"
      ),
    ).toEqual(["one.txt", "ran-plan", "ran-task"]);
    expect(stderr).toContain("✓ passed: 1 verified");
  });
});

describe("ralph run in a GSD project", () => {
  test("runs the next plan alone, says which comes then, and needs no second check to finish", async () => {
    const { stderr, root } = await project().before("git checkout -qb work").args("run").expectExit(0);

    expect(stderr).toMatch(/^STATE\.md is at phase 1; 01-01 is .*\nworkflow gsd \(\.planning exists\)\n/);
    expect(stderr).toMatch(
      /✓ passed: 1 verified in 2 iterations\n {2}verified {2}01-01\n {2}01-01 is complete; next: 01-02\n {2}branch /,
    );
    const finished = await ralphCli(root).args("finish", "--approve", "finish").expectExit(0);
    expect(`${finished.stdout}${finished.stderr}`).not.toMatch(/no run has passed|has moved since|check passed/);
  });

  test("a plan with checkpoints is not begun without a terminal, and done with a person in one", async () => {
    const files = { [TWO]: planText("two.txt", { task: CHECKPOINT }) };
    const without = await project(files).args("run").expectExit(3);
    const script =
      `case "$RALPH_PROMPT" in *"A person is at the terminal"*) ;; *) exit 1;; esac; read -r answer; echo "$answer" > two.txt; echo ok > ${
        summaryOf(TWO)
      }`;
    const within = await project(files, script).args("run").terminal([CONSENT, "y"], ["at work", "right\n"]).expectExit(
      0,
    );

    expect(without.stderr).toContain(
      "01-02 has checkpoints for a person (Look at two.txt): run it in a terminal, or leave them out with `ralph run --loop`",
    );
    expect(within.read("two.txt")).toBe("right\n");
    expect(within.read(summaryOf(TWO))).toBe("ok\n");
    expect(within.stdout).toContain("passed: 1 verified in 1 iteration");
  });

  test.each([
    [
      "an empty .planning/",
      { ".planning/.keep": "" },
      2,
      /\.planning: no phase was found: neither a folder in phases\/ nor one in ROADMAP\.md/,
    ],
    [
      "no plan yet",
      { ".planning/ROADMAP.md": PROJECT[".planning/ROADMAP.md"]! },
      3,
      /phase 1 \(Base\): ROADMAP\.md lists 01-01, 01-02, not written yet: `ralph plan 1`|phase 1 \(Base\) has no plan yet: `ralph plan 1`/,
    ],
    ["a plan with no tasks but text", { [ONE]: "Do it.\n" }, 3, /1 item names no check and cannot pass: 01-01/],
    [
      "a plan with nothing in it",
      { [ONE]: "---\nplan: 01\n---\n" },
      3,
      /01-01-PLAN\.md has no task and no text: there is nothing to carry out/,
    ],
    ["only checkpoints", { [ONE]: CHECKPOINT + "\n" }, 0, /1 checkpoint that no one saw: 01-01 \(1\)/],
    ["no STATE.md", { [ONE]: PROJECT[ONE]! }, 0, /01-01 is the first plan that is not complete/],
  ])("%s", async (_, files, exitCode, says) => {
    const { stderr } = await project(files).args("run", "--loop").expectExit(exitCode);

    expect(stderr).toMatch(says);
  });

  test("no .planning/ at all: exit 2 with the way to begin", async () => {
    const { stderr } = await project({}).args("run", "--loop").expectExit(2);

    expect(stderr).toMatch(/\.planning does not exist\nhint: `ralph init --workflow gsd` begins a GSD project/);
  });

  test("a verification that hangs is ended, tried once more, then blocked", async () => {
    const files = {
      [ONE]: planText("one.txt").replace("grep -q right one.txt", "sleep 61 | cat; sleep 62"),
      ".planning/STATE.md": STATE,
    };
    const { stderr, read } = await project(files, worker(), { verify: { timeout: 1 } }).args("run", "--loop")
      .expectExit(3);

    expect(stderr).toContain("✗ blocked: 0 verified in 2 iterations");
    expect(read(".planning/STATE.md")).toMatch(
      /Status: BLOCKED - 01-01: task 1: sleep 61 \| cat; sleep 62: (failed|exit \d+)\n/,
    );
  });

  test("an agent that hangs is ended and blocks; one that says garbage is asked once more", async () => {
    const hangs = await project({ [ONE]: PROJECT[ONE]! }, "sleep 63").args("run", "--timeout", "1s").expectExit(3);
    const garbage = await project(
      { [ONE]: PROJECT[ONE]! },
      `echo right > one.txt; echo "%% PLAN_COMPLETE ##"; head -c 200 /dev/urandom`,
    ).args("run").expectExit(3);

    expect(hangs.stderr).toContain("01-01: the agent had not ended after 1 s");
    expect(garbage.stderr).toContain(
      "✗ blocked: 0 verified in 2 iterations\n  01-01: the agent gave no signal: no line `###PLAN_COMPLETE###`; it ended with: ",
    );
  });

  test.each([
    [["run", "5"], "`ralph run --max-iterations 5`, or `ralph run --loop 5` for that many plans"],
    [["run", "--loop", "0"], "--loop must be a whole number of at least 1 (got: 0)"],
    [["run", "--loop=x"], "--loop must be a whole number of at least 1 (got: x)"],
    [["run", "--loop", "--plan", "01-01"], "--loop and --plan exclude each other"],
    [["run", "--plan", "09-09"], "there is no plan 09-09\nhint: plans: 01-01, 01-02, 02-01"],
    [
      ["run", "--loop", "3", "--workflow", "exec"],
      "--loop belongs to the workflow gsd, not exec (`--workflow`)\nhint: `--max-iterations 3`, or `--workflow gsd`",
    ],
  ])("%j ends with 2 and says what would work", async (args, says) => {
    const { stderr } = await project().args(...args).expectExit(2);

    expect(stderr).toContain(says);
  });

  test("--plan runs one that the project has passed, and none that is complete", async () => {
    const files = {
      ...FILES,
      ".planning/STATE.md": STATE.replace("Phase: 1 of 2 (Base)", "Phase: 2 of 2 (More)"),
      [summaryOf(ONE)]: "ok\n",
    };
    const passed = await project(files).args("run", "--plan", "1-2", "--allow-unverified").expectExit(3);
    const complete = await project(files).args("run", "--plan", "01-01").expectExit(2);

    expect(passed.stderr).toContain("01-02 has checkpoints for a person");
    expect(complete.stderr).toContain(`01-01 is complete: ${summaryOf(ONE)} is there`);
  });
});

describe("ralph status in a GSD project", () => {
  test("tells position, next plan, why, gaps and what could not be read", async () => {
    const files = {
      ...FILES,
      ".planning/STATE.md": STATE.replace("Phase: 1 of 2 (Base)\nPlan: 0 of 2", "Phase: 2 of 2 (More)\nPlan: 2 of 2"),
      [TWO]: planText("two.txt").replace("</verify>", ""),
      ".planning/phases/01-base/PRUNING-PLAN.md": "x",
    };
    const { stdout } = await project(files).args("status").expectExit(0);

    expect(stdout).toBe(`gsd (.planning exists) · [ROOT] · main
agent: worker
position: Phase 2 of 2 (More), plan 2 of 2 in current phase: Ready to execute
plans: 0/3 complete, 1 open
  ○ Phase 01  Base 0/2
  ○ Phase 02  More 0/1
  ▲ 01-01: no SUMMARY, but STATE.md is at phase 2
  ▲ 01-02: no SUMMARY, but STATE.md is at phase 2
next plan: 02-01  Three
  STATE.md is at phase 2; 02-01 is the first plan from there on that is not complete
▲ .planning/phases/01-base/01-02-PLAN.md:13: <verify> is not closed
▲ .planning/phases/01-base/PRUNING-PLAN.md: no plan by its name (01-01-PLAN.md): left out
next: \`ralph run\` executes 02-01
`);
  });

  test("--json is what readPlanning() gives, with the position", async () => {
    const { stdout } = await project().args("status", "--json").expectExit(0);
    const status = JSON.parse(stdout);

    expect([status.workflow, status.position.next, status.position.open, status.planning.phases.length]).toEqual([
      "gsd",
      "01-01",
      ["01-01", "01-02", "02-01"],
      2,
    ]);
    expect(status.planning.phases[0].plans[0].tasks[0].commands).toEqual([{
      command: "grep -q right one.txt",
      expect: {},
      name: null,
      line: 14,
    }]);
  });

  test("a project at its very start, and one without a roadmap", async () => {
    const start = await project({ ".planning/ROADMAP.md": PROJECT[".planning/ROADMAP.md"]! }).args("status").expectExit(
      0,
    );
    const empty = await project({ ".planning/PROJECT.md": "# x\n" }).args("status").expectExit(0);

    expect(start.stdout).toContain("position: Phase 1, not started\n");
    expect(start.stdout).toContain("next: `ralph discover 1`, then `ralph plan 1`\n");
    expect(empty.stdout).toMatch(/✗ \.planning: no phase was found.*\n(▲.*\n)*next: `ralph roadmap --workflow gsd`\n/);
  });

  test("plans without a check are listed by status, validate and run, with the form that a plan has; done they are marked", async () => {
    const bare = (file: string): string => planText(file).replace(/<verify>[^]*<\/verify>/, "");
    const files = { ...PROJECT, [ONE]: bare("one.txt"), [THREE]: bare("three.txt") };
    const status = await project(files).args("status").expectExit(0);
    const valid = await project(files).args("validate").expectExit(0);
    const run = await project(files).args("run", "--loop").expectExit(3);
    const named = await project(files, worker(), { verify: { default: ["test -d ."] } }).args("validate").expectExit(0);
    const allowed = await project(files).args("run", "--loop", "--allow-unverified").expectExit(0);
    const after = await ralphCli(allowed.root).args("status").expectExit(0);

    for (const shown of [status.stdout, valid.stdout]) {
      expect(shown).toContain("2 of 3 open plans name no check and cannot pass: 01-01, 02-01\n");
      expect(shown).toContain(
        "on a line of its own: `<automated>npm test</automated>`; or for all plans in `verify.default`",
      );
    }
    expect(named.stdout).not.toContain("name no check");
    expect(run.stderr).toContain(
      "name one in the plan, in a task's `<verify>` or in `<verification>`, on a line of its own",
    );
    expect(after.stdout).toContain("▲ 01-01: unverified, no check ran or the unseen one failed\n");
    expect(after.stdout).not.toContain("01-02: unverified");
  });

  test("a STATE.md that Ralph cannot keep up to date is named by validate, status and run", async () => {
    const files = { ...PROJECT, ".planning/STATE.md": STATE.replace("Current Position", "Current Phase") };
    const says = "has no section `## Current Position`: it is read, and Ralph cannot keep it up to date";

    expect((await project(files).args("status").expectExit(0)).stdout).toContain(says);
    expect((await project(files).args("validate").expectExit(0)).stdout).toContain(says);
    expect((await project(files).args("run").expectExit(0)).stderr).toContain(`warning: .planning/STATE.md: ${says}`);
  });

  test("where several workflows are in use, status shows each", async () => {
    const prd = '{"branchName":"main","userStories":[]}';
    const files = { ...PROJECT, "scripts/ralph/prd.json": prd };
    const both = await project(files).args("status").expectExit(0);
    const json = await project(files).args("status", "--json").expectExit(0);
    const one = await project(files).args("status", "--workflow", "exec").expectExit(0);

    expect(both.stdout).toMatch(
      /^exec \(scripts\/ralph exists\)[^]*stories: 0\/0[^]*\n\ngsd \(\.planning exists\)[^]*plans: 0\/3/,
    );
    expect(JSON.parse(json.stdout).map(({ workflow }: { workflow: string }) => workflow)).toEqual(["exec", "gsd"]);
    expect(one.stdout).not.toContain("gsd");
  });

  test("next, validate and verify know the workflow", async () => {
    const next = await project().args("next").expectExit(0);
    const valid = await project({ ...FILES, [TWO]: planText("two.txt").replace("</verify>", "") }).args("validate")
      .expectExit(0);
    const config = { verify: { default: ["test -f README.md"] } };
    const verified = await project({ ...FILES, [summaryOf(ONE)]: "done\n" }, worker(), config).args("verify")
      .expectExit(1);
    const exec = await project().args("exec", "--non-interactive", "a goal", "--agent-cmd", "false").expectExit(1);

    expect(next.stdout).toBe(
      "01-01  One\n  .planning/phases/01-base/01-01-PLAN.md\n  · Write one.txt\ncheck: task 1: grep -q right one.txt\nSTATE.md is at phase 1; 01-01 is the first plan from there on that is not complete\n",
    );
    expect(valid.stdout).toContain(
      "✓ .planning\n✓ .planning/phases/01-base/01-02-PLAN.md\n    warning: line 13: <verify> is not closed\n",
    );
    expect(verified.stderr).toContain(
      "2 of 2 checks failed\n  01-01 task 1: grep -q right one.txt (01-01)\n  test -f README.md\n",
    );
    expect(exec.stderr).toContain("workflow exec (`ralph exec`)\n");
  });
});
