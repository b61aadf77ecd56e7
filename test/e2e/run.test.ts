import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Cli, CONSENT, ralphCli } from "./cli.ts";

const STORY = (id: string, check: string, priority: number): object => ({
  id,
  title: `Do ${id}`,
  acceptanceCriteria: [check],
  priority,
  passes: false,
  notes: "",
});
const PRD = JSON.stringify({
  branchName: "ralph/work",
  userStories: [STORY("US-001", "Verify: `test -f a.txt`", 1), STORY("US-002", "Verify: `test -f b.txt`", 2)],
});
const WORKER = 'case "$(cat)" in *US-001*) touch a.txt;; *) touch b.txt;; esac; echo "<promise>COMPLETE</promise>"';

function project(worker: string, prd = PRD): Cli {
  return ralphCli().files({
    "scripts/ralph/prd.json": prd,
    "ralph.config.json": JSON.stringify({ provider: { command: "worker" } }),
  })
    .agent("worker", worker);
}

describe("ralph run", () => {
  test("a run's name is its beginning in UTC: no clock that is put back changes the order of names", async () => {
    const now = (): string => new Date().toISOString().replaceAll(/[-:]/g, "").slice(0, 15).replace("T", "-");
    const began = now();

    const { root } = await project(WORKER).env({ TZ: "Pacific/Kiritimati" }).args("run").expectExit(0); // 14 hours ahead

    const run = readdirSync(join(root, "scripts/ralph/runs")).find((name) => name !== ".gitignore") ?? "";
    expect([began, run.slice(0, 15), now()]).toEqual([began, run.slice(0, 15), now()].toSorted());
  });

  test("tells what happened, a line an event, and ends with what is verified", async () => {
    const { stderr, stdout, git } = await project(WORKER).args("run").expectExit(0);

    expect(stdout).toBe("");
    expect(stderr).toBe(`workflow exec (scripts/ralph exists)
agent worker (ralph.config.json)
working on the branch ralph/work
run: exec in [ROOT] with worker, logs in [ROOT]/scripts/ralph/runs/[RUN]
story US-001: Do US-001 (attempt 1, 0 of 2 done)
  agent worker: started, transcript in scripts/ralph/runs/[RUN]/iteration-1.log
  agent worker: completed ([TIME])
  check passed: test -f a.txt ([TIME])
  commit [COMMIT]: feat: US-001 - Do US-001
story US-001: verified ([TIME])
story US-002: Do US-002 (attempt 1, 1 of 2 done)
  agent worker: started, transcript in scripts/ralph/runs/[RUN]/iteration-2.log
  agent worker: completed ([TIME])
  check passed: test -f b.txt ([TIME])
  commit [COMMIT]: feat: US-002 - Do US-002
story US-002: verified ([TIME])
final-check: Everything that passed, checked once more, in a clean checkout: 2 checks
  check passed: test -f a.txt ([TIME])
  check passed: test -f b.txt ([TIME])
final-check: passed

✓ passed: 2 verified in 2 iterations
  verified  US-001, US-002
  branch    ralph/work from main: 2 commits, 2 files, +0 -0
  used      [TIME], tokens unknown, cost unknown
next: \`ralph finish\` merges it or opens a pull request; \`ralph report\` shows what was done
`);
    expect(git("log", "--format=%s")).toBe("feat: US-002 - Do US-002\nfeat: US-001 - Do US-001\nstart");
  });

  test("--json writes every event as one JSON object a line", async () => {
    const { stdout, stderr } = await project(WORKER).args("run", "--json").expectExit(0);

    const events = stdout.trim().split("\n").map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(events.every(({ v, at, type }) => v === 1 && typeof at === "string" && typeof type === "string")).toBe(true);
    expect(new Set(events.map(({ run }) => run))).toEqual(new Set(["[RUN]"]));
    expect(events.at(-1)).toMatchObject({ type: "run-end", status: "passed" });
    expect(stderr).toBe("");
  });

  test("--quiet says only how it ended, --ascii only in ASCII", async () => {
    const { stderr } = await project(WORKER).args("run", "--quiet", "--ascii").expectExit(0);

    expect(stderr).toMatch(/^\n\+ passed: 2 verified in 2 iterations\n {2}verified {2}US-001, US-002\n {2}branch /);
  });

  test("--max-iterations ends as exhausted with 1", async () => {
    const { stderr } = await project("exit 0").args("run", "--max-iterations", "1").expectExit(1);

    expect(stderr).toContain("exhausted: 0 verified in 1 iteration\n");
  });

  test("--branch wins over the PRD's, an empty one stays", async () => {
    expect((await project(WORKER).args("run", "--branch", "mine").expectExit(0)).git("branch", "--show-current")).toBe(
      "mine",
    );
    expect((await project(WORKER).args("run", "--branch", "").expectExit(0)).git("branch", "--show-current")).toBe(
      "main",
    );
  });

  test("stories without a check block with the ways out, before any turn", async () => {
    const prd = JSON.stringify({ branchName: "main", userStories: [STORY("US-001", "it is nice", 1)] });

    const { stderr, read } = await project("touch ran", prd).args("run").expectExit(3);

    expect(stderr).toContain("US-001");
    expect(stderr).toContain("--allow-unverified");
    expect(read("ran")).toBeNull();
  });

  test("--allow-unverified lets the claim settle, and says so", async () => {
    const prd = JSON.stringify({ branchName: "main", userStories: [STORY("US-001", "it is nice", 1)] });

    const { stderr } = await project('touch ran; echo "<promise>COMPLETE</promise>"', prd).args(
      "run",
      "--allow-unverified",
    ).expectExit(0);

    expect(stderr).toContain(
      "unverified: 0 verified, 1 unverified in 1 iteration\n  unverified  US-001 (no check ran: only the agent says so)\n",
    );
  });

  test("an agent that echoes the marker with its prompt claims nothing", async () => {
    const prd = JSON.stringify({ branchName: "main", userStories: [STORY("US-001", "it is nice", 1)] });

    const { read } = await project(
      'cat; echo "<promise>COMPLETE</promise>" >&2; echo "I will say <promise>COMPLETE</promise> later"',
      prd,
    )
      .args("run", "--allow-unverified").expectExit(3);

    expect(JSON.parse(read("scripts/ralph/prd.json") ?? "").userStories[0].passes).toBe(false);
  });
});

describe("in a terminal", () => {
  test("a plan is asked for, shown and approved", async () => {
    const draft = {
      questions: [],
      uncertainties: [],
      prdDraft: JSON.parse(PRD),
      recommendUnderstand: { shouldRun: false, reasons: [] },
    };
    const running = ralphCli().agent("worker", `cat > /dev/null; echo '${JSON.stringify(draft)}'`)
      .args("plan", "do it", "--agent-cmd", "worker").terminal(["Write this PRD", "y"]).start();

    const { exitCode, read } = await running.ended();

    expect(exitCode).toBe(0);
    expect(JSON.parse(read("scripts/ralph/prd.json") ?? "").userStories).toHaveLength(2);
  });

  test("--interactive asks between two iterations", async () => {
    const running = project(WORKER).args("run", "--interactive").terminal([CONSENT, "y"], [
      "Continue with the next iteration?",
      "n",
    ])
      .start();

    const { exitCode, git } = await running.ended();

    expect(exitCode).toBe(0);
    expect(git("log", "--format=%s")).toBe("feat: US-001 - Do US-001\nstart");
  });
});
