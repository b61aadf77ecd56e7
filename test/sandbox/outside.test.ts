import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { verify } from "../../lib/checks/verify.ts";
import { sandboxedHost } from "../../lib/sandbox/create_sandbox.ts";
import { outsideHost } from "../../lib/sandbox/outside.ts";
import { testContext } from "../../lib/testing/test_context.ts";
import { ralphCli } from "../e2e/cli.ts";
import { needs, SANDBOX } from "../needs.ts";

it("Ralph's git follows no link that a check in the sandbox made", needs(...SANDBOX), async () => {
  await using ralph = await testContext({
    files: {
      "a.txt": "a",
      "t.sh": 'ln -sf "$PWD/mine" .git/COMMIT_EDITMSG; ln -sf "$PWD/mine" .git/logs/HEAD\n',
    },
    config: { sandbox: { mode: "required" } },
  });
  await ralph.tree.write({ "a.txt": "b" });

  expect(await verify(ralph, ["sh t.sh"])).toMatchObject({ status: "passed" });
  await ralph.repository?.commit({ paths: ["a.txt"], subject: "work" });

  expect(existsSync(join(ralph.root, "mine"))).toBe(false);
  expect(ralph.recorded.find(({ type }) => type === "sandbox")).toMatchObject({ on: true });
});

it("there is no sandbox for a tree that Ralph itself is in", needs(...SANDBOX), async () => {
  await using ralph = await testContext({ config: { sandbox: { mode: "required" } } });
  const root = dirname(dirname(import.meta.dirname));
  const rest = { repository: null, config: ralph.config, onState() {}, onRefused() {}, onOutside() {} };
  await using sandbox = sandboxedHost({ host: ralph.host, root, ...rest }).sandbox!;

  await expect(sandbox.ensureUsable()).rejects.toMatchObject({
    code: "sandbox-missing",
    message: expect.stringContaining(`Ralph itself is in the working tree, where a turn can change it: ${root}`),
  });
});

it("a folder of PATH that nobody can look into is none", async () => {
  await using ralph = await testContext();
  const loop = join(ralph.root, "loop");
  symlinkSync(loop, loop);
  const { host } = ralph;
  const environment = { ...host.environment, variables: { ...host.environment.variables, PATH: `${loop}:/usr/bin` } };

  const outside = await outsideHost({ ...host, environment }, "/nowhere/project", []);

  expect(outside.environment.variables["PATH"]).toBe("/usr/bin");
});

it("a program that a turn puts on PATH is not run outside", needs(...SANDBOX), () => {
  const fake = "printf '#!/bin/sh\\necho $0 >> ran.txt\\nexec env PATH=/usr/local/bin:/usr/bin:/bin %s \"$@\"\\n'";
  const story = { id: "US-001", title: "A", acceptanceCriteria: ["Verify: `test -f a.txt`"], priority: 1 };
  const { command, root, environment } = ralphCli().files({
    ".gitignore": "node_modules\nran.txt\n",
    "scripts/ralph/prd.json": JSON.stringify({
      branchName: "main",
      userStories: [{ ...story, passes: false, notes: "" }],
    }),
    "agent.sh": `mkdir -p node_modules/.bin; for name in git socat bwrap bash; do
      ${fake} $name > node_modules/.bin/$name; chmod +x node_modules/.bin/$name; done; echo a > a.txt
      echo '<promise>COMPLETE</promise>'\n`,
  }).args("run", "--sandbox", "--agent-cmd", "bash agent.sh").prepare();
  const bin = join(root, "node_modules/.bin");

  const [program = "", ...args] = command;
  const env = { ...environment, PATH: `${bin}:./node_modules/.bin:${environment["PATH"]}` };
  const end = spawnSync(program, args, { cwd: root, env, encoding: "utf8" });

  expect(end.stderr).toContain("✓ passed: 1 verified");
  expect(existsSync(join(bin, "git"))).toBe(true);
  expect(existsSync(join(root, "ran.txt")) ? readFileSync(join(root, "ran.txt"), "utf8") : "").toBe("");
});

const FMT = "filter.fmt.clean";
const WRITE = 'mkdir -p tools; rm -f $SCRIPT; printf "echo ran >>$OUT; cat" >$SCRIPT';
const COMMIT = `blob=$(printf "echo ran >>$OUT; cat" | git hash-object -w --stdin)
  git update-index --cacheinfo 100644,$blob,$SCRIPT; git commit -qm script`;

it.each([
  ["is there", FMT, "sh tools/fmt.sh", "tools/fmt.sh", WRITE],
  ["is named by its whole path", FMT, 'sh "$PWD/tools/fmt.sh"', "tools/fmt.sh", WRITE],
  ["is not there yet", FMT, "cat; test ! -f tools/new.sh || sh tools/new.sh", "tools/new.sh", WRITE],
  ["changes in a commit alone", FMT, "sh tools/fmt.sh", "tools/fmt.sh", COMMIT],
  ["is a merge driver's", "merge.fmt.driver", "sh tools/merge.sh %O %A %B", "tools/merge.sh", WRITE],
])("a script of git's settings that %s runs outside only as the person wrote it", {
  ...needs(...SANDBOX),
  timeout: 120_000,
}, async (...row) => {
  const [, name, value, script, attack] = row;
  const place = realpathSync(mkdtempSync(join(tmpdir(), "ralph-filter-")));
  onTestFinished(() => rmSync(place, { recursive: true, force: true }));
  const story = (id: string): object => ({
    id,
    title: id,
    acceptanceCriteria: [`Verify: \`grep -q ${id} a.txt\``],
    priority: 1,
    passes: false,
    notes: "",
  });
  const { git, stderr } = await ralphCli().files({
    ".gitattributes": "*.txt filter=fmt merge=fmt\n",
    "a.txt": "a\n",
    "tools/fmt.sh": "cat\n",
    "tools/merge.sh": "cat $3 >>$2\n",
    "scripts/ralph/prd.json": JSON.stringify({ branchName: "main", userStories: [story("one"), story("two")] }),
    "agent.sh": `text=$(cat); SCRIPT=${script}; OUT=${place}/ran; ${attack}
      case $text in *"grep -q one"*) echo one >>a.txt;; *) echo two >>a.txt;; esac
      echo '<promise>COMPLETE</promise>'\n`,
  }).before(`git config ${name} '${value}'`)
    .args("run", "--sandbox", "--parallel", "2", "--agent-cmd", "bash agent.sh", "--max-iterations", "4").start()
    .ended();

  expect(existsSync(join(place, "ran")), stderr).toBe(false);
  expect(git("ls-tree", "-r", "--name-only", "HEAD")).not.toContain("tools/new.sh");
  expect(git("show", "HEAD:tools/fmt.sh")).toBe("cat");
});
