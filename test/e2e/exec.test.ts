import { describe, expect, test } from "vitest";
import { spawnSync } from "node:child_process";
import { existsSync, openSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { needs } from "../needs.ts";
import { type Cli, ralphCli } from "./cli.ts";

const PRD_DRAFT = {
  branchName: "ralph/colours",
  userStories: [
    {
      id: "US-001",
      title: "Add a.txt",
      acceptanceCriteria: ["a.txt says blue. Verify: `grep -q blue a.txt`"],
      priority: 1,
      passes: false,
      notes: "",
    },
    {
      id: "US-002",
      title: "Add b.txt",
      acceptanceCriteria: ["Verify: `test -f b.txt`"],
      priority: 2,
      passes: false,
      notes: "",
    },
  ],
};
const ASKS = {
  questions: ["Which colour should it be?"],
  uncertainties: [],
  prdDraft: null,
  recommendUnderstand: { shouldRun: false, reasons: [] },
};
const DRAFTS = {
  questions: [],
  uncertainties: [],
  prdDraft: PRD_DRAFT,
  recommendUnderstand: { shouldRun: false, reasons: [] },
};
const ANSWERS = "questions:\n  - match: colour\n    answer: blue\n";

/** Asks one question, drafts, writes one line into the map a topic, and does the stories as `work` says. */
function project(work: string): Cli {
  return ralphCli().files({ "answers.yaml": ANSWERS }).agent(
    "worker",
    `
prompt=$(cat)
case "$prompt" in
  *"Plan: from a goal"*) case "$prompt" in *": blue"*|*"blue"*) echo '${JSON.stringify(DRAFTS)}';; *) echo '${
      JSON.stringify(ASKS)
    }';; esac;;
  *"Understand one topic"*) printf '\\n## %s - Topic\\n\\nnotes\\n' "$(date +%F)" >> scripts/ralph/codebase_map.md;;
  *) ${work};;
esac`,
  );
}

const WORK =
  'case "$prompt" in *US-001*) echo blue > a.txt;; *) touch b.txt;; esac; echo "<promise>COMPLETE</promise>"';
const LIE = 'echo "$prompt" >> ../prompts.txt; echo "<promise>COMPLETE</promise>"';

describe("ralph exec", () => {
  test("--dry-run shows what would happen, starts nothing and writes nothing; what would stop it is its exit code", async () => {
    const counting = project(`touch ../started; ${WORK}`).files({
      "ralph.config.json": JSON.stringify({ verify: { default: ["touch ../checked", "no-such-tool --all"] } }),
    }).dirty({ "notes.txt": "mine" });
    const { root, stdout, stderr, git } = await counting.args(
      "exec",
      "add colours",
      "--dry-run",
      "--agent-cmd",
      "worker",
    )
      .expectExit(0);

    expect(stdout).toMatch(/^goal +add colours\n/);
    expect(stdout).toMatch(/\nagent +worker\nplan +none yet: worker asks/);
    expect(stdout).toContain("branch   named by the plan, from main\n");
    expect(stdout).toContain("no-such-tool --all: no-such-tool was not found\n");
    expect(stdout).toContain("ralph: plan approved (scripts/ralph/, without its runs)\n");
    expect(stdout).toMatch(/\nyours +notes\.txt: uncommitted now, and never committed by Ralph\n/);
    expect(stderr).toContain("nothing was started or written");
    expect(existsSync(join(root, "../started")) || existsSync(join(root, "../checked"))).toBe(false);
    expect(git("status", "--porcelain")).toBe("?? notes.txt");
    expect(existsSync(join(root, ".git/ralph/journal.jsonl"))).toBe(false);

    const missing = await ralphCli(root).args("exec", "add colours", "--dry-run", "--agent-cmd", "absent").expectExit(
      4,
    );
    expect(missing.stderr).toContain("absent is not on PATH");
    const data = await ralphCli(root).args("exec", "x y", "--dry-run", "--json", "--agent-cmd", "absent").expectExit(4);
    expect(JSON.parse(data.stdout)).toMatchObject({ goal: ["x y"], problems: [{ code: "agent-not-found" }] });
    const base = await ralphCli(root).args("exec", "x y", "--dry-run", "--agent-cmd", "worker", "--base", "nope")
      .expectExit(2);
    expect(base.stderr).toContain("--base must be the name of a branch that is here");
    const none = await project(WORK).without("repository").args("exec", "x y", "--dry-run", "--agent-cmd", "worker")
      .expectExit(2);
    expect(none.stderr).toContain("git init");
  });

  test("a check whose tool is missing ends it before the planner's first turn; others run once for plan and run", async () => {
    const blocked = await project(`touch ../started; ${WORK}`).args(
      "exec",
      "add colours",
      "--agent-cmd",
      "touch ../started; worker",
      "--verify",
      "no-such-tool --all",
      "--approve",
      "all",
    ).expectExit(3);
    expect(blocked.stderr).toContain("no-such-tool --all cannot run: no-such-tool was not found; install it");
    expect(existsSync(join(blocked.root, "../started"))).toBe(false);

    const { root, stderr } = await project(WORK).args(
      "exec",
      "add colours",
      "--agent-cmd",
      "worker",
      "--verify",
      "[ -e a.txt ] || echo x >> ../before",
      "--approve",
      "prd,run",
      "--answers",
      "answers.yaml",
    ).expectExit(0);
    expect(stderr.match(/The checks before the first turn/g)).toHaveLength(1);
    expect(readFileSync(join(root, "../before"), "utf8")).toBe("x\n");
  });

  test("knows the file that its own output goes to: it ends neither planning nor understanding, and is no one's", {
    timeout: 180_000,
  }, () => {
    const { command, environment, root } = project(WORK).args(
      "exec",
      "add colours",
      "--agent-cmd",
      "worker",
      "--answers",
      "answers.yaml",
      "--approve",
      "all",
    )
      .dirty({ "out.log": "" }).prepare();
    const [file = "", ...rest] = command;
    const output = openSync(join(root, "out.log"), "a");

    const { status } = spawnSync(file, rest, { cwd: root, env: environment, stdio: ["ignore", output, output] });

    const said = readFileSync(join(root, "out.log"), "utf8");
    expect(status, said).toBe(0);
    expect(said).not.toContain("out.log");
  });

  test("takes a goal to verified commits when every gate was approved", async () => {
    const { git, read, stderr } = await project(WORK)
      .args(
        "exec",
        "colour the files",
        "--agent-cmd",
        "worker",
        "--answers",
        "answers.yaml",
        "--approve",
        "prd,understand,run",
        "--max-understand-iterations",
        "1",
      )
      .expectExit(0);

    const prd = JSON.parse(read("scripts/ralph/prd.json") ?? "") as typeof PRD_DRAFT;
    expect(prd.userStories.map(({ id, passes }) => [id, passes])).toEqual([["US-001", true], ["US-002", true]]);
    expect(git("log", "--format=%s", "-n", "3")).toMatch(/^feat: US-002 - Add b\.txt\nfeat: US-001 - Add a\.txt\n/);
    expect(git("rev-parse", "--abbrev-ref", "HEAD")).toBe("ralph/colours");
    expect(git("status", "--porcelain")).toBe("");
    expect(read("scripts/ralph/plan_transcript.md")).toContain("Which colour should it be?");
    expect(stderr).toContain("passed: 2 verified in 2 iterations\n  verified  US-001, US-002\n");
  });

  test("an agent that lies passes nothing: the run ends without a change, exit 1", async () => {
    const { read, stderr, root } = await project(LIE)
      .args("exec", "colour the files", "--agent-cmd", "worker", "--answers", "answers.yaml", "--approve", "prd,run")
      .expectExit(1);

    const prd = JSON.parse(read("scripts/ralph/prd.json") ?? "") as typeof PRD_DRAFT;
    expect(prd.userStories.every(({ passes, notes }) => !passes && notes !== "")).toBe(true);
    expect(stderr).toContain("exhausted: 0 verified, 1 parked in 5 iterations\n");
    expect(read("../prompts.txt")).toContain("grep -q blue a.txt: exit 2");
    expect(root).not.toBe("");
  });

  test("without approval of the run nothing is implemented, exit 0, and the next commands are shown", async () => {
    const { read, stderr, git } = await project(WORK)
      .args("exec", "colour the files", "--agent-cmd", "worker", "--answers", "answers.yaml", "--approve", "prd")
      .expectExit(0);

    expect(stderr).toContain("ralph run");
    expect(read("a.txt")).toBeNull();
    expect(git("rev-parse", "--abbrev-ref", "HEAD")).toBe("ralph/colours");
    expect(git("log", "--format=%s", "main")).not.toContain("ralph:"); // the plan is on its own branch
    expect(git("status", "--porcelain", "--", "scripts/ralph/plan_transcript.md")).toBe("");
  });

  test("without approval of the PRD it ends with 3 and keeps what was worked out", async () => {
    const { read, stderr } = await project(WORK)
      .args("exec", "colour the files", "--agent-cmd", "worker", "--answers", "answers.yaml", "--non-interactive")
      .expectExit(3);

    expect(stderr).toContain("--approve prd");
    expect(JSON.parse(read("scripts/ralph/plan_state.json") ?? "").state).toBe("review_prd");
    expect(read("a.txt")).toBeNull();
  });

  test("a question without an answer ends with 3", async () => {
    const { stderr } = await project(WORK).args(
      "exec",
      "colour the files",
      "--agent-cmd",
      "worker",
      "--non-interactive",
    ).expectExit(3);

    expect(stderr).toContain("Which colour should it be?");
  });

  test("an answers file never answers a gate", async () => {
    const { read } = await project(WORK)
      .dirty({ "gates.yaml": `${ANSWERS}prompts:\n  plan.write-prd: yes\n  gate.run: yes\n` })
      .args("exec", "colour the files", "--agent-cmd", "worker", "--answers", "gates.yaml").expectExit(3);

    expect(read("a.txt")).toBeNull();
  });

  test("--ui plain reads answers and consents from standard input", async () => {
    const { git, stderr } = await project(WORK).stdin("blue\ny\nn\ny\n")
      .args("exec", "colour the files", "--agent-cmd", "worker", "--ui", "plain").expectExit(0);

    expect(stderr).toContain("[y] write it  [c] change it  [N] not now y\n");
    expect(stderr).toContain("Start `ralph run` now? [y/N] y\n");
    expect(git("log", "--format=%s", "-n", "1")).toBe("feat: US-002 - Add b.txt");
  });

  test("a project without configuration takes two keys from the goal to a verified commit", needs("make"), async () => {
    const { git, read, stdout } = await project(WORK).files({ Makefile: "test:\n\t@true\ncheck:\n\tno-such-tool\n" })
      .args("exec", "colour the files", "--agent-cmd", "worker")
      .terminal(["begin planning", "\r"], ["Which colour", "blue\r"], ["[N] not now", "y"]).expectExit(0);

    expect(JSON.parse(read("ralph.config.json") ?? "")).toMatchObject({ verify: { default: ["make test"] } });
    expect(read("ralph.config.json")).not.toContain("worker"); // flags hold for one command
    expect(stdout).toContain("left out: make check (cannot run: no-such-tool was not found)");
    expect(git("log", "--format=%s", "-n", "1")).toBe("feat: US-002 - Add b.txt");
  });

  test.each([
    ["y", ["gate.understand no", "gate.run yes"], "feat: US-002 - Add b.txt"],
    ["w", ["gate.understand no", "gate.run no"], "ralph: plan decided"],
    ["n", [], "start"],
  ])("one key in a terminal decides about plan, understanding and run: %s", async (key, consents, subject) => {
    const { git, root } = await project(WORK).args("exec", "colour the files", "--agent-cmd", "worker")
      .terminal(["Which colour", "blue\r"], ["[N] not now", key]).expectExit(0);

    expect(git("log", "--format=%s", "-n", "1")).toBe(subject);
    const runs = join(root, "scripts/ralph/runs");
    const run = readdirSync(runs).find((name) => /^\d/.test(name))!;
    const events = readFileSync(join(runs, run, "events.ndjson"), "utf8").trim().split("\n");
    const answers = events.map((line) => JSON.parse(line)).filter(({ type, id }) =>
      type === "answer" && id.startsWith("gate.")
    );
    expect(answers.map(({ id, answer }) => `${id} ${answer}`)).toEqual(consents);
  });

  test("an agent that changes a source file before approval ends it as failed, with paths and diff", async () => {
    const { stderr, read } = await ralphCli().files({ "src.txt": "" }).agent(
      "worker",
      `cat > /dev/null; echo sneaky > src.txt; echo '${JSON.stringify(DRAFTS)}'`,
    )
      .args("exec", "colour the files", "--agent-cmd", "worker", "--approve", "all").expectExit(1);

    expect(stderr).toContain("src.txt");
    expect(stderr).toContain("+sneaky");
    expect(read("src.txt")).toBe("sneaky\n");
  });
});
