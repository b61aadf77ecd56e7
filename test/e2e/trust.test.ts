import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { defaultConfig } from "../../lib/config/defaults.ts";
import { ralphCli } from "./cli.ts";

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const STORY = { id: "US-001", title: "Add login", priority: 1, passes: false, notes: "" };
const PRD = JSON.stringify({
  branchName: "main",
  userStories: [{ ...STORY, acceptanceCriteria: ["It greets by name", "Verify: `test -f login.txt`"] }],
});
/** A project in which a shell script is the test, and work that passes only because its agent weakened it. */
const WEAKENED = {
  files: {
    "scripts/ralph/prd.json": PRD.replace("test -f login.txt", "sh test/login.sh"),
    "test/login.sh": 'test "$(cat login.txt)" = 5\n',
  },
  agent: "echo 4 > login.txt; echo true > test/login.sh; echo '<promise>COMPLETE</promise>'",
};

function guide(name: string): string {
  return readFileSync(join(ROOT, "docs/guides", name), "utf8");
}

/** The code block of a guide that holds this text. */
function block(text: string, language: string, holds: string): string {
  const blocks = [...text.matchAll(new RegExp(`^\`\`\`${language}[^\\n]*\\n([^]*?)^\`\`\`$`, "gm"))];
  return blocks.map(([, code = ""]) => code).find((code) => code.includes(holds)) ?? "";
}

/** A `codex` that answers as the second argument of its shell says; it reads the prompt first. */
function codex(verdict: string): string {
  const message = (text: string): string =>
    JSON.stringify({ type: "item.completed", item: { id: "item_0", type: "agent_message", text } });
  return [
    "cat > ../prompt.txt",
    `echo '{"type":"thread.started","thread_id":"t"}'`,
    `echo '{"type":"turn.started"}'`,
    `file=$(grep -o '/[^\`]*\\.diff' ../prompt.txt | head -1)`,
    "nonce=$(sed -n 's/.*<review \\([a-z0-9]*\\)>APPROVE.*/\\1/p' ../prompt.txt)",
    `if ${verdict}; then echo '${
      message("Read it.\n<review NONCE>APPROVE</review>").replaceAll("\\", "\\\\")
    }' | sed "s/NONCE/$nonce/"`,
    `else echo '${message("<review>REJECT: login.txt greets nobody</review>")}'; fi`,
    `echo '{"type":"turn.completed","usage":{"input_tokens":7,"cached_input_tokens":0,"output_tokens":1}}'`,
  ].join("\n");
}

describe("the recipe of docs/guides/recipes.md in which a second agent reviews", () => {
  test("sends a story back with the reviewer's reason, and passes it once that is fixed", async () => {
    const recipe = block(guide("recipes.md"), "ts", "reviewedBy");

    const { stderr, git, read, root } = await ralphCli()
      .files({ "scripts/ralph/prd.json": PRD, "ralph.recipe.ts": recipe })
      .agent(
        "worker",
        'if grep -q "greets nobody"; then echo "hello Ada" > login.txt; else echo > login.txt; fi; echo "<promise>COMPLETE</promise>"',
      )
      .agent("codex", codex('grep -q "+hello Ada" "$file"'))
      .args("run-recipe", "ralph.recipe.ts", "--agent-cmd", "worker", "--approve", "run").expectExit(0);

    expect(stderr).toContain("check failed: review by codex");
    expect(stderr).toContain("- login.txt greets nobody");
    expect(stderr).toContain("check passed: review by codex");
    expect(git("log", "-1", "--format=%s", "--", "login.txt")).toBe("feat: US-001 - Add login");
    expect(JSON.parse(read("scripts/ralph/prd.json") ?? "").userStories[0]).toMatchObject({ passes: true, notes: "" });
    expect(readFileSync(join(dirname(root), "prompt.txt"), "utf8")).toContain(
      "US-001: Add login\n\nAcceptance criteria:\n- It greets by name",
    );
  });

  test("without the reviewer on the machine it ends before the first turn", async () => {
    const recipe = block(guide("recipes.md"), "ts", "reviewedBy").replace('"codex"', '{ command: "no-such-reviewer" }');

    const { read } = await ralphCli().files({ "scripts/ralph/prd.json": PRD, "ralph.recipe.ts": recipe })
      .agent("worker", "echo > login.txt")
      .args("run-recipe", "ralph.recipe.ts", "--agent-cmd", "worker", "--approve", "run").expectExit(4);

    expect(read("login.txt")).toBeNull();
  });
});

describe("the settings that docs/guides/trust.md names", () => {
  test("are known to validate, and in the schema with their defaults", async () => {
    const { trust, verify, tests, protect, workspace } = defaultConfig();
    const config = { trust, verify, tests, protect, workspace };
    const { stdout } = await ralphCli().args("schema", "config").expectExit(0);
    const { properties } = JSON.parse(stdout);

    await ralphCli().files({ "ralph.config.json": JSON.stringify(config) }).args("validate").expectExit(0)
      .then(({ stderr, stdout: said }) => expect(stderr + said).not.toContain("unknown key"));
    expect(properties.tests.properties.integrity).toMatchObject({
      default: "report",
      enum: ["off", "report", "block"],
    });
    expect(properties.verify.properties.baseline).toMatchObject({ default: true });
    expect(properties.verify.properties.isolated).toMatchObject({ default: false });
  });
});

describe("ralph run", () => {
  test("names a test at the end that fails as it was before the work", async () => {
    const { stderr } = await ralphCli().files(WEAKENED.files).agent("worker", WEAKENED.agent)
      .args("run", "--agent-cmd", "worker").expectExit(0);

    expect(stderr).toContain("  warning: the checks cannot be believed:\n    test/login.sh: with test/login.sh");
    expect(stderr).toMatch(
      / {2}old tests fail {2}test\/login.sh: with .* as before the work, `sh test\/login.sh` fails/,
    );
  });

  test("what it named is in `ralph status` as long as it is true and nobody has agreed to it", async () => {
    const worker = `${WEAKENED.agent}; sed -i 's/Add login/Add nothing/' scripts/ralph/prd.json`;
    const run = await ralphCli().files(WEAKENED.files)
      .agent("worker", worker).args("run", "--agent-cmd", "worker").expectExit(0);
    const named = run.stderr.split("\n").filter((line) => /^ {2}(old tests fail|restored) /.test(line));
    const status = (...flags: string[]) => ralphCli(run.root).args("status", ...flags).expectExit(0);

    const text = await status();
    const { lastRun } = JSON.parse((await status("--json")).stdout);
    await ralphCli(run.root).agent("worker", "true").args("run", "--agent-cmd", "worker").expectExit(0);
    const after = await status();

    expect(named).toHaveLength(2);
    for (const line of named) expect(text.stdout.split("\n")).toContain(line);
    expect(lastRun).toMatchObject({ backlog: "exec", scope: "main" });
    const notices = lastRun.notices.filter(({ kind }: Record<string, string>) => kind !== "environment");
    expect(notices.map(({ kind, subject }: Record<string, string>) => `${kind} ${subject}`)).toEqual([
      "old-tests test/login.sh",
      "restored scripts/ralph/prd.json",
    ]);
    expect(after.stdout).toContain(named[0]); // nothing was left to do: it says nothing of the work before
    const prd = JSON.parse(run.read("scripts/ralph/prd.json") ?? "");
    const more = { ...prd.userStories[0], id: "US-002", passes: false, acceptanceCriteria: ["Verify: `test -f b`"] };
    const files = { "scripts/ralph/prd.json": JSON.stringify({ ...prd, userStories: [...prd.userStories, more] }) };
    await ralphCli(run.root).dirty(files).agent("worker", "echo > b; echo '<promise>COMPLETE</promise>'")
      .args("run", "--agent-cmd", "worker").expectExit(0);
    expect((await status()).stdout).toContain("  old tests fail  test/login.sh");
  });

  test("tells what fails before the first turn", async () => {
    const config = { verify: { baseline: true, default: ["test -f ok.txt"] } };

    const { stderr } = await ralphCli()
      .files({ "scripts/ralph/prd.json": PRD, "ralph.config.json": JSON.stringify(config) })
      .agent("worker", "echo > login.txt").args("run", "--agent-cmd", "worker").expectExit(3);

    expect(stderr).toContain("warning: already failing before the first turn: test -f ok.txt");
    expect(stderr).toContain("check failed: test -f ok.txt (exit 1, failed before the run as well");
    expect(stderr).toContain("  already failing before Ralph started  test -f ok.txt\n");
  });

  test("isolated checks do not see what git ignores", async () => {
    const config = { verify: { isolated: true } };

    const { stderr } = await ralphCli()
      .files({
        "scripts/ralph/prd.json": PRD,
        "ralph.config.json": JSON.stringify(config),
        ".gitignore": "login.txt\n",
      })
      .agent("worker", "echo > login.txt; echo '<promise>COMPLETE</promise>'").args("run", "--agent-cmd", "worker")
      .expectExit(3);

    expect(stderr).toContain("check failed: test -f login.txt (exit 1");
  });
});
