import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { attest } from "../../lib/attest/attest.ts";
import { createRalph } from "../../lib/recipe/create_ralph.ts";
import { ralphCli } from "./cli.ts";

const PRD = JSON.stringify({
  branchName: "ralph/ten",
  userStories: [{
    id: "US-001",
    title: "Say TEN",
    acceptanceCriteria: ["Verify: `grep -q TEN f.txt`"],
    priority: 1,
    passes: false,
    notes: "",
  }],
});

test("a repeated verdict expects of each command what the attested one did; what is no command is not repeated", async () => {
  const { root } = ralphCli().files({ "a.txt": "a\n" }).prepare();
  await using ralph = await createRalph({ root });
  const git = (...words: string[]): string => execFileSync("git", words, { cwd: root, encoding: "utf8" }).trim();
  const commit = git("rev-parse", "HEAD");
  const checks = [
    { command: "exit 3", exitCode: 3, expect: { exit: 3 } },
    { command: "exit 3", exitCode: 3, expect: { exit: "non-zero" as const } },
    { command: "cat a.txt", exitCode: 0, expect: { output: "a" } },
  ];
  const known = { commit, base: commit, findings: [], brief: null, ralph: "0.2.0", run: "r" };
  await attest(ralph, { ...known, checks });
  await ralphCli(root).args("attest", "verify", "--repeat").expectExit(0);

  await attest(ralph, { ...known, checks: [...checks, { command: "the page shows a", exitCode: null }] });
  const { stdout } = await ralphCli(root).args("attest", "verify", "--repeat", "--json").expectExit(1);

  expect(JSON.parse(stdout)).toMatchObject({
    repeated: { status: "passed", differences: ["the page shows a: exit code none, now not run"] },
  });
});

test("`ralph attest` repeats the verdict of a run on another clone, and says what differs after a change", async () => {
  const { root } = await ralphCli()
    .files({
      "scripts/ralph/prd.json": PRD,
      "f.txt": "10\n",
      "ralph.config.json": JSON.stringify({ verify: { default: ["test -s f.txt"] } }),
    })
    .agent("worker", "cat > /dev/null; echo TEN > f.txt; echo '<promise>COMPLETE</promise>'")
    .args("run", "--agent-cmd", "worker", "--quiet").expectExit(0);
  const folder = mkdtempSync(join(tmpdir(), "ralph-attest-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const clone = join(folder, basename(root));
  const git = (...words: string[]): void => void execFileSync("git", words, { cwd: clone, stdio: "pipe" });
  execFileSync("git", ["clone", "-q", "-b", "ralph/ten", root, clone], { stdio: "pipe" });
  const attest = (...words: string[]): ReturnType<typeof ralphCli> => ralphCli(clone).args("attest", ...words);

  git("config", "user.name", "a");
  git("config", "user.email", "a@b.invalid");
  // a clone in which no item passed knows of no finding that another one had
  expect((await ralphCli(clone).args("run", "--agent-cmd", "false").expectExit(0)).stderr).toContain("0 verified");
  const missing = await attest("verify").expectExit(1);
  expect(missing.stderr).toContain("git fetch origin 'refs/notes/*:refs/notes/*'");
  git("fetch", "-q", "origin", "refs/notes/*:refs/notes/*");

  const same = await attest("verify", "--repeat", "--require", "passed").expectExit(0);
  expect(same.stderr).toContain("  not signed: whoever can push its ref can have written it");
  expect(same.stderr).toContain("  repeated: the same verdict");
  expect((await attest("show").expectExit(0)).stdout).toContain('"verificationResult":"PASSED"');

  git("switch", "-q", "main");
  git("merge", "-q", "--squash", "ralph/ten");
  git("commit", "-qm", "squashed");
  const squashed = await attest("verify").expectExit(0);
  expect(squashed.stderr).toContain("  attested for another commit with the same tree: ");

  writeFileSync(join(clone, "f.txt"), "11\n");
  git("commit", "-qam", "11");
  const other = await attest("verify", "--repeat", "--json").expectExit(1);
  expect(JSON.parse(other.stdout)).toMatchObject({
    status: "none",
    repeated: {
      status: "failed",
      differences: ["status: passed, now failed", "grep -q TEN f.txt: exit code 0, now 1"],
    },
  });
});

test("a shallow clone that lacks the base is told how to get it", async () => {
  const { root } = ralphCli().files({ "a.txt": "a\n" }).before("git commit -q --allow-empty -m more").prepare();
  const clone = join(root, "../clone/project");
  execFileSync("git", ["clone", "-q", "--depth", "1", `file://${root}`, clone], { stdio: "pipe" });
  const base = execFileSync("git", ["rev-parse", "HEAD~"], { cwd: root, encoding: "utf8" }).trim();
  const { stderr } = await ralphCli(clone).args("gate", "--base", base, "--verify", "test -f a.txt").expectExit(2);
  expect(stderr).toContain("hint: this clone is shallow: `git fetch --unshallow`");
});

test("a run in a repository of SHA-256 is attested", async () => {
  const { root, git } = await ralphCli()
    .files({ "scripts/ralph/prd.json": PRD, "f.txt": "10\n", "gone.txt": "1\n" })
    .before(`rm -rf .git; git init -q -b main --object-format=sha256; git config user.name a
      git config user.email a@b.invalid; git add -A; git commit -qm start`)
    .agent("worker", "cat > /dev/null; echo TEN > f.txt; rm gone.txt; echo '<promise>COMPLETE</promise>'")
    .args("run", "--agent-cmd", "worker", "--quiet").expectExit(0);
  expect(git("rev-parse", "HEAD")).toHaveLength(64);
  await ralphCli(root).args("attest", "verify", "--repeat").expectExit(0);
});

test("a repeat may know of fewer findings than the run that attested, and not of more", async () => {
  const { root } = ralphCli().files({ "a.txt": "a\n", "test/a.sh": "grep -q a a.txt\n" }).prepare();
  await using ralph = await createRalph({ root });
  const git = (...words: string[]): string => execFileSync("git", words, { cwd: root, encoding: "utf8" }).trim();
  const base = git("rev-parse", "HEAD");
  writeFileSync(join(root, "a.txt"), "b\n");
  const attestWith = async (
    findings: readonly { readonly kind: string; readonly subject: string }[],
  ): Promise<void> => {
    const known = { commit: git("rev-parse", "HEAD"), base, brief: null, ralph: "0.2.0", run: "r" };
    await attest(ralph, { ...known, findings, checks: [{ command: "sh test/a.sh", exitCode: 0 }] });
  };
  writeFileSync(join(root, "test/a.sh"), "grep -q b a.txt\n");
  git("commit", "-qam", "b");
  const changed = { kind: "old-tests", subject: "test/a.sh" };
  const verify = ["attest", "verify", "--repeat", "--json"];

  await attestWith([changed, { kind: "old-tests", subject: "known to the run alone" }]);
  await ralphCli(root).args(...verify).expectExit(0);
  await attestWith([]);
  const { stdout } = await ralphCli(root).args(...verify).expectExit(1);

  expect(JSON.parse(stdout)).toMatchObject({
    repeated: { status: "passed", differences: ["a finding that is not attested: old-tests test/a.sh"] },
  });
});
