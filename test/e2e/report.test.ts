import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type CliResult, ralphCli } from "./cli.ts";

const PRD = JSON.stringify({
  branchName: "ralph/x",
  userStories: [
    story("US-001", "Write a.txt", "Verify: `test -f a.txt`"),
    story("US-002", "Write b.txt", "Verify: `echo expected b.txt; test -f b.txt`"),
  ],
});
/** Does the first story and commits it itself; of the second it only says that it did. */
const AGENT = [
  "cat > /dev/null",
  'if [ "$RALPH_ITEM" = US-001 ]; then echo a > a.txt; git add a.txt; git commit -qm "agent: add a.txt"; echo "<promise>COMPLETE</promise>"; fi',
  `sed -i.bak 's/"passes": *false/"passes": true/' scripts/ralph/prd.json; rm -f scripts/ralph/prd.json.bak`,
].join("\n");

function story(id: string, title: string, ...acceptanceCriteria: string[]): unknown {
  return { id, title, acceptanceCriteria, priority: 1, passes: false, notes: "" };
}

function run(agent = AGENT): ReturnType<typeof ralphCli> {
  return ralphCli().files({ "scripts/ralph/prd.json": PRD }).agent("worker", agent)
    .args("run", "--agent-cmd", "worker", "--quiet");
}

async function report(root: string, ...args: string[]): Promise<CliResult> {
  return await ralphCli(root).args("report", ...args).expectExit(0);
}

interface Json {
  readonly state: string;
  readonly status: string;
  readonly running: { readonly pid: number } | null;
  readonly items: readonly {
    readonly id: string;
    readonly state: string;
    readonly attempts: readonly {
      readonly checks: readonly { readonly ok: boolean; readonly tail: string | null }[];
      readonly commits: readonly { readonly subject: string; readonly by: string; readonly filesChanged: number }[];
    }[];
  }[];
}

describe("ralph report", () => {
  test("tells what a run did: the passed, the parked, the agent's own commits, what was put back", async () => {
    const { root } = await run().expectExit(3);

    const { stdout, stderr } = await report(root);
    const json = JSON.parse((await report(root, "--format", "json")).stdout) as Json;

    expect(stderr).toBe("");
    expect(stdout).toMatch(/^# ✗ Run \[RUN\]: blocked\n\n1 verified, 1 parked\.\n/);
    expect(stdout).toContain("- **Used**: tokens unknown, cost unknown\n");
    expect(stdout).toContain("- **Next**: fix the cause, then `ralph run --retry-blocked`\n");
    expect(stdout).toMatch(/edited manually and restored: `scripts\/ralph\/prd.json`, in turns for US-001, US-002\n/);
    expect(stdout).toMatch(
      / {2}- ✗ `echo expected b.txt; test -f b.txt` \(exit 1, .*\)\n {4}```\n {4}expected b.txt\n {4}```\n/,
    );
    expect(stdout).toContain("transcript `scripts/ralph/runs/[RUN]/iteration-1.log`");
    expect(json).toMatchObject({ state: "ended", status: "blocked", running: null });
    expect(json.items.map(({ id, state, attempts }) => [id, state, attempts.length])).toEqual([
      ["US-001", "verified", 1],
      ["US-002", "parked", 3],
    ]);
    expect(json.items[0]?.attempts[0]?.commits).toMatchObject([
      { subject: "feat: US-001 - Write a.txt", by: "ralph", filesChanged: 3 },
    ]);
  });

  test("writes one page to a file, and changes nothing else", async () => {
    const { root, git } = await run().expectExit(3);
    const before = git("status", "--porcelain");

    const { stdout, stderr, read } = await report(root, "--format", "html", "--output", "../report.html");

    expect({ stdout, stderr }).toEqual({ stdout: "", stderr: "wrote ../report.html\n" });
    expect(read("../report.html")).toMatch(/^<!doctype html>[^]*US-002[^]*<\/html>\n$/);
    expect(git("status", "--porcelain")).toBe(before);
  });

  test("a run that continues is shown as running, and after kill -9 as cut off, never as passed", async () => {
    const running = run("cat > /dev/null; echo begun >> begun; exec sleep 30").start();
    await running.wrote("begun");

    const during = JSON.parse((await report(running.root, "--format", "json")).stdout) as Json;
    running.child.kill("SIGKILL");
    await running.ended();
    const after = JSON.parse((await report(running.root, "--format", "json")).stdout) as Json;

    expect(during).toMatchObject({ state: "running", status: null, items: [{ state: "in-progress" }] });
    expect(during.running?.pid).toBeGreaterThan(0);
    expect(after).toMatchObject({ state: "cut-off", status: null, running: null, items: [{ state: "interrupted" }] });
    expect((await report(running.root)).stdout).toContain(
      ": no end recorded\n\nit was killed, or an error ended it.\n",
    );
  });

  test("finds the newest run, one by its id, and one by its path", async () => {
    const { root } = await run().expectExit(3);
    const [id = ""] = readdirSync(join(root, "scripts/ralph/runs")).filter((name) => !name.startsWith("."));
    await ralphCli(root).args("run", "--agent-cmd", "worker", "--retry-blocked", "--quiet").expectExit(3);

    const newest = JSON.parse((await report(root, "--format", "json")).stdout) as Json;
    const older = JSON.parse((await report(root, id, "--format", "json")).stdout) as Json;
    const byPath = JSON.parse((await report(root, `scripts/ralph/runs/${id}`, "--format", "json")).stdout) as Json;

    expect(newest.items.map((item) => item.id)).toEqual(["US-002"]);
    expect(older.items.map((item) => item.id)).toEqual(["US-001", "US-002"]);
    expect(byPath).toEqual(older);
  });

  test("a secret of the environment in a commit's subject is masked", async () => {
    const secret = "hunter2hunter2hunter2";
    const agent = `${AGENT}\ngit commit -q --allow-empty -m "login with ${secret}"`;
    const folded = await run(agent).env({ MY_API_KEY: secret }).expectExit(3);
    const kept = await run(agent).env({ MY_API_KEY: secret })
      .files({ "ralph.config.json": '{ "commits": { "squash": false } }' }).expectExit(3);

    const { stdout } = await ralphCli(kept.root).env({ MY_API_KEY: secret }).args("report").expectExit(0);

    expect(folded.git("log", "--grep=^feat: US-001", "--format=%b")).toContain("- login with ***");
    expect(stdout).not.toContain(secret);
    expect(stdout).toContain("login with \\*\\*\\*");
  });

  test("without a run, and with a wrong name, it says what there is", async () => {
    const none = await ralphCli().args("report").expectExit(2);
    const { root } = await run().expectExit(3);
    const wrong = await ralphCli(root).args("report", "nope").expectExit(2);
    const format = await ralphCli(root).args("report", "--format", "htm").expectExit(2);

    expect(none.stderr).toBe(
      "error: no run below [ROOT] has left its events\nhint: a run writes them: `ralph run` …\n",
    );
    expect(wrong.stderr).toBe("error: nope is neither a run's id nor the folder of one\nhint: the last runs: [RUN]\n");
    expect(format.stderr).toContain("did you mean `--format html`?");
  });

  test("the schema of its JSON is printed", async () => {
    const { stdout } = await ralphCli().args("schema", "report").expectExit(0);

    expect(JSON.parse(stdout)).toMatchObject({ title: "ralph report", properties: { version: { const: 1 } } });
  });
});
