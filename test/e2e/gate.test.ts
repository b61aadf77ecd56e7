import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { GateReport } from "../../lib/report/types.ts";
import { GATE_SCHEMA } from "../../lib/report/schema.ts";
import { type Cli, type CliResult, ralphCli } from "./cli.ts";

const BROKEN = "export const add = (a, b) => a - b;\n";
const FIXED = "export const add = (a, b) => a + b;\n";
const TEST = `import test from "node:test"; import assert from "node:assert"; import { add } from "../add.mjs";
test("add", () => assert.equal(add(2, 3), 5));
`;
const WEAKENED = `import test from "node:test"; test("add", () => {});\n`;
const CONFIG = `{ "verify": { "default": ["node --test"] } }\n`;
const FILES = { "add.mjs": BROKEN, "test/add.test.mjs": TEST, "ralph.config.json": CONFIG };

const STORY = {
  id: "US-001",
  title: "Add",
  acceptanceCriteria: ["Verify: `node --test`"],
  priority: 1,
  passes: false,
  notes: "",
};
/** The first lines of an agent that claims its item. */
const SAYS = `n=$(sed -n 's/.*<promise \\([^>]*\\)>.*/\\1/p' | head -1); echo "<promise $n>COMPLETE</promise>"`;

/** A branch off `main` with work of another loop. */
function branch(files: Readonly<Record<string, string>>): Cli {
  const put = Object.entries(files).map(([path, text]) => `printf '%s' '${text}' > ${path}`).join(" && ");
  return ralphCli().files(FILES).before(`git checkout -q -b work && ${put} && git add -A && git commit -q -m work`);
}

describe("ralph gate", () => {
  test("passes work that the tests from before it pass, and stores and marks nothing", async () => {
    const { stderr, git } = await branch({ "add.mjs": FIXED }).args("gate").expectExit(0);

    expect(stderr).toMatch(/^passed since [\da-f[]/m);
    expect(git("status", "--porcelain")).toBe("");
    expect(git("log", "--format=%s")).toBe("work\nstart");
  });

  test("needs no git identity, also where tests changed and work is not committed", async () => {
    const changed = { "add.mjs": FIXED, "test/add.test.mjs": `${TEST}// again\n`.replaceAll("'", "") };
    const gate = branch(changed).without("identity").dirty({ "other.txt": "other\n" });

    const { stdout, git } = await gate.args("gate", "--json").expectExit(0);

    const { status, notices, checks, head, leftOut } = GATE_SCHEMA.parse(JSON.parse(stdout));
    expect({ status, checks: checks.map(({ name, ok, tail }) => ({ name, ok, tail })) })
      .toEqual({ status: "passed", checks: [{ name: "node --test", ok: true, tail: null }] });
    expect({ notices, leftOut }).toEqual({ notices: [], leftOut: null });
    expect(git("log", "-1", "--format=%an <%ae> %cn", head ?? "")).toBe("ralph <ralph@localhost> ralph");
  });

  test("judges what is not committed as well", async () => {
    await ralphCli().files(FILES).dirty({ "add.mjs": FIXED }).args("gate", "--base", "HEAD").expectExit(0);
    await ralphCli().files(FILES).args("gate", "--base", "HEAD").expectExit(1);
  });

  test("names data that turns a red test green, and does not refuse it: it may be the work", async () => {
    const reads =
      `import test from "node:test"; import assert from "node:assert"; import { readFileSync } from "node:fs";
test("five", () => assert.equal(JSON.parse(readFileSync("data/n.json", "utf8")).n, 5));
`;
    const files = { "data/n.json": '{ "n": 4 }\n', "test/n.test.mjs": reads, "ralph.config.json": CONFIG };
    const work = `git checkout -q -b work && printf '{ "n": 5 }' > data/n.json && git commit -qam work`;

    const { stdout } = await ralphCli().files(files).before(work).args("gate", "--json").expectExit(0);

    const { status, notices } = GATE_SCHEMA.parse(JSON.parse(stdout));
    expect([status, notices.map(({ kind, subject }) => `${kind} ${subject}`)])
      .toEqual(["passed", ["old-tests data/n.json"]]);
  });

  test("refuses work that passes only with a weakened test, and names it", async () => {
    const { stdout } = await branch({ "test/add.test.mjs": `${WEAKENED.replaceAll("'", "")}` })
      .args("gate", "--json").expectExit(1);

    const verdict = GATE_SCHEMA.parse(JSON.parse(stdout)) as GateReport;
    expect(verdict.status).toBe("failed");
    expect(verdict.notices.map(({ kind, subject }) => `${kind} ${subject}`)).toEqual(["old-tests test/add.test.mjs"]);
    expect(verdict.reasons).toHaveLength(1);
    expect(verdict.reasons[0]).toMatch(/^test\/add\.test\.mjs: with .* as before the work, `node --test` fails/);
  });

  describe("with experiments that there is no time for", () => {
    const work = { "add.mjs": FIXED, "test/add.test.mjs": `${TEST}// again\n` };
    const put = Object.entries(work).map(([path, text]) => `cat > ${path} <<'END'\n${text}END`).join("\n");
    const verify = { default: ["node --test"], baseline: false };
    const hurried = { ...FILES, "ralph.config.json": JSON.stringify({ verify, experiments: { budget: 0.000001 } }) };

    test("says so in its last line and in its JSON", async () => {
      const line = "no time left for: old judges, canaries, without the work (experiments.budget)";
      const { stderr, root } = await ralphCli().files(hurried).before(put).args("gate", "--base", "HEAD").expectExit(0);
      expect(stderr.trimEnd().split("\n").at(-1)).toBe(`  ${line}`);

      const { stdout } = await ralphCli(root).args("gate", "--base", "HEAD", "--json").expectExit(0);
      expect(GATE_SCHEMA.parse(JSON.parse(stdout))).toMatchObject({ status: "passed", leftOut: line, notices: [] });
    });

    test("so does the report of a run, in the same words, and not its last lines", async () => {
      const prd = JSON.stringify({ branchName: "main", userStories: [STORY] });
      const agent = ralphCli().files({ ...hurried, "scripts/ralph/prd.json": prd }).agent("worker", `${SAYS}\n${put}`);
      const { stderr, root } = await agent.args("run", "--agent-cmd", "worker").expectExit(0);
      expect(stderr).not.toContain("no time left");

      const { stdout } = await ralphCli(root).args("report").expectExit(0);
      expect(stdout).toContain("- **Experiments**: no time left for: old judges, canaries (experiments.budget)");
    });
  });

  describe("with work that slows its checks down until no time is left for the canaries", () => {
    const config = (budget: number): string =>
      JSON.stringify({ verify: { default: ["node --test"], baseline: false }, experiments: { budget } });
    const slow = (ms: number): string => `await new Promise((done) => setTimeout(done, ${ms}));\n`;
    const cheat = `${slow(5000)}process.exit(0);\nexport const add = 0;\n`;
    const named =
      /^ {2}not tried:? {1,2}experiments: no time left for: (?:old judges, )?canaries; the checks take \d\S* s, and took [01]\.\d s before the work$/m;

    test("names it", async () => {
      const work = ralphCli().files({ ...FILES, "add.mjs": FIXED, "ralph.config.json": config(0.06) });
      const { stderr, root } = await work.dirty({ "add.mjs": cheat }).args("gate", "--base", "HEAD").expectExit(0);
      expect(stderr).toMatch(named);

      await ralphCli(root).args("gate", "--base", "HEAD", "--require", "passed").expectExit(1);
    });

    test("so do the last lines of a run, and its attestation", async () => {
      const prd = JSON.stringify({ branchName: "main", userStories: [STORY] });
      const agent = ralphCli().files({ ...FILES, "ralph.config.json": config(0.06), "scripts/ralph/prd.json": prd })
        .agent("worker", `${SAYS}\ncat > add.mjs <<'END'\n${cheat}END`);
      const { stderr, root } = await agent.args("run", "--agent-cmd", "worker").expectExit(0);
      expect(stderr).toMatch(named);

      const attest = await ralphCli(root).args("attest", "verify", "--require", "passed").expectExit(1);
      expect(attest.stdout + attest.stderr).toMatch(/not[- ]tried/);
    });

    test("accuses nothing that was as slow before", async () => {
      const files = { ...FILES, "add.mjs": `${slow(1500)}${FIXED}`, "ralph.config.json": config(0.02) };
      const work = ralphCli().files(files).dirty({ "add.mjs": `${slow(1500)}${FIXED}// again\n` });
      const { stdout } = await work.args("gate", "--base", "HEAD", "--require", "passed", "--json").expectExit(0);

      const { notices, leftOut } = GATE_SCHEMA.parse(JSON.parse(stdout));
      expect([notices, leftOut]).toEqual([[], "no time left for: canaries (experiments.budget)"]);
    });
  });

  test("takes its checks from the base: what is judged does not choose them", async () => {
    await branch({ "ralph.config.json": `{ "verify": { "default": ["true"] } }` }).args("gate").expectExit(1);
  });

  test("without a check nothing is passed", async () => {
    const { stderr } = await ralphCli().files({ "a.txt": "a\n" }).args("gate").expectExit(1);

    expect(stderr).toContain("no check is named: use `--verify CMD`");
  });

  test("--timeout ends a check that takes longer, in gate and verify", async () => {
    const slow = ralphCli().files({ "ralph.config.json": `{ "verify": { "default": ["sleep 20"] } }` });
    const { stderr, root } = await slow.args("verify", "--timeout", "1s").expectExit(1);
    expect(stderr).toContain("1 of 1 checks failed");

    const gate = await ralphCli(root).args("gate", "--base", "HEAD", "--timeout", "1s").expectExit(1);
    expect(gate.stderr).toContain("  sleep 20: failed\ntimed out after 1 s");
  });

  test("names a base that is no commit", async () => {
    const { stderr } = await ralphCli().files(FILES).args("gate", "--base", "nowhere").expectExit(2);

    expect(stderr).toContain("nowhere is no commit");
  });

  test("judges nothing where it cannot tell what the work began on", async () => {
    const cheat = `git branch -m trunk && git switch -qc work && echo '{}' > ralph.config.json && git commit -qam work`;
    const { stderr } = await ralphCli().files(FILES).before(cheat).args("gate", "--verify", "test -e add.mjs")
      .expectExit(2);
    expect(stderr).toContain("no branch is known that the work began on");

    const cloned = `${cheat} && git update-ref refs/remotes/origin/main trunk && git branch -qD trunk`;
    const gate = await ralphCli().files(FILES).before(cloned).args("gate").expectExit(1);
    expect(gate.stderr).toContain("node --test: exit 1");
  });

  test("as a Stop hook it never ends as 2, which would hold the session for good", async () => {
    for (const wrong of [["--base", "nowhere"], ["--bas", "HEAD"]]) {
      const { stderr } = await ralphCli().files(FILES).args("gate", "--hook", ...wrong).stdin("{}").expectExit(1);
      expect(stderr).toMatch(/nowhere is no commit|unknown flag/);
    }
    await ralphCli().files(FILES).dirty({ "ralph.config.json": "{" })
      .args("gate", "--hook", "--base", "HEAD").stdin("{}").expectExit(1);
  });

  test("names a configuration of the base that is no JSON", async () => {
    const { stderr } = await ralphCli().files({ ...FILES, "ralph.config.json": "{" })
      .dirty({ "ralph.config.json": CONFIG }).args("gate", "--base", "HEAD").expectExit(2);

    expect(stderr).toMatch(/error: .*ralph\.config\.json at /);
  });

  test("as a Stop hook it holds the agent back twice in a session, and then lets it go", async () => {
    const project = ralphCli().files(FILES).prepare().root;
    const stop = (session: string): Promise<CliResult> =>
      ralphCli(project).args("gate", "--hook", "--base", "HEAD").stdin(`{"session_id":"${session}"}`).expectExit(0);

    const answers = [await stop("a"), await stop("a"), await stop("a"), await stop("b")].map(({ stdout }) => stdout);

    expect(JSON.parse(answers[0] ?? "")).toEqual({
      decision: "block",
      reason: expect.stringContaining("node --test: exit 1") as string,
    });
    expect(answers.map((answer) => answer !== "")).toEqual([true, true, false, true]);
  });

  test("as a Stop hook it counts anew once it has let the agent go, or the work has passed", async () => {
    const config = `{ "verify": { "default": ["test -f done.txt"] } }\n`;
    const project = ralphCli().files({ "ralph.config.json": config }).prepare().root;
    const answers: boolean[] = [];
    for (const isDone of [false, false, false, false, true, false, false]) {
      if (isDone) writeFileSync(join(project, "done.txt"), "");
      else rmSync(join(project, "done.txt"), { force: true });
      const held = ralphCli(project).args("gate", "--hook", "--base", "HEAD").stdin('{"session_id":"a"}').expectExit(0);
      answers.push((await held).stdout !== "");
    }

    expect(answers).toEqual([true, true, false, true, false, true, true]);
  });
});
