import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { PROJECT } from "../workflows/gsd/planning.ts";
import { ralphCli } from "./cli.ts";
import { ACCEPT, feature, prd, PRD_FILE, story } from "./feature_project.ts";

/** US-002 breaks US-001; the first turn after that changes nothing, the second one mends it. */
const ACT = `*US-001*) case $(count one) in 1|3) echo good > a;; esac;;
*US-002*) echo bad > a; touch b;;`;
const CHECKS = [["US-001", "grep -q good a"], ["US-002", "test -f b"]] as const;

describe("a story that the final check sends back has its attempts as before", () => {
  test("exec", async () => {
    const userStories = CHECKS.map(([id, check], index) => ({
      id,
      title: `Do ${id}`,
      acceptanceCriteria: [`Verify: \`${check}\``],
      priority: index + 1,
      passes: false,
      notes: "",
    }));
    const worker = `prompt=$(cat); mkdir -p ../state
count() { echo x >> ../state/$1; wc -l < ../state/$1 | tr -d ' '; }
case "$prompt" in
${ACT}
esac
echo "<promise>COMPLETE</promise>"`;

    const { git, stderr } = await ralphCli().agent("worker", worker)
      .files({ "scripts/ralph/prd.json": JSON.stringify({ branchName: "main", userStories }) })
      .args("run", "--agent-cmd", "worker").expectExit(0);

    expect(stderr).toContain("the final check sends back US-001");
    expect(git("show", "HEAD:a")).toBe("good");
  });

  test("feature", async () => {
    const act = `*US-001*) [ $(count one) != 2 ] && echo good > a; done_;;`;
    const stories = [story("US-001", { acceptanceCriteria: ["Verify: `grep -q good a`"] })];
    const first = await feature(`${ACCEPT} ${act}`, stories, { verify: {}, maxRetries: 2 }).args("run", "auth")
      .expectExit(0);
    writeFileSync(join(first.root, "a"), "bad");
    first.git("commit", "-qam", "breaks it");

    const { git, stderr } = await ralphCli(first.root).args("run", "auth").expectExit(0);

    expect(stderr).toContain("the final check sends back US-001");
    expect(git("show", "HEAD:a")).toBe("good");
  });
});

test("a story that the final check sends back is in the last lines, where another one is parked", async () => {
  const userStories = ["a", "b"].map((file, index) => ({
    id: `US-00${index + 1}`,
    title: `Do ${file}`,
    acceptanceCriteria: [`Verify: \`test -e ${file}\``],
    priority: index + 1,
    passes: false,
    notes: "",
  }));
  const worker = `cat > /dev/null; ln -sf /tmp a; echo "<promise>COMPLETE</promise>"`;

  const { root, stderr } = await ralphCli().agent("worker", worker)
    .files({ "scripts/ralph/prd.json": JSON.stringify({ branchName: "main", userStories }) })
    .args("run", "--agent-cmd", "worker").expectExit(3);
  const status = await ralphCli(root).args("status").expectExit(0);

  expect(stderr).toMatch(
    /\n {2}sent back {2}US-001: the final check fails: clean checkout of HEAD/,
  );
  expect(stderr).toMatch(/\n {2}parked {2}US-002: /);
  expect(status.stdout).toContain("sent back  US-001: ");
});

test("a story whose work stands in a person's uncommitted file: the last lines say to commit it, and then it passes", async () => {
  const one = {
    id: "US-001",
    title: "A",
    acceptanceCriteria: ["Verify: `grep -q good f`"],
    priority: 1,
    passes: false,
  };
  const prd = JSON.stringify({ branchName: "main", userStories: [{ ...one, notes: "" }] });
  const worker = "cat > /dev/null; echo good >> f; echo '<promise>COMPLETE</promise>'";
  const { git, root, stderr } = await ralphCli().agent("worker", worker)
    .files({ "scripts/ralph/prd.json": prd, f: "a\n" }).dirty({ f: "a\nmine\n" })
    .args("run", "--agent-cmd", "worker").expectExit(1);

  expect(stderr).toContain(
    "  HEAD fails the final check without your uncommitted changes: commit them, then run the same command again: grep",
  );
  git("commit", "-qam", "mine and the story's");
  await ralphCli(root).args("run", "--agent-cmd", "worker").expectExit(0);
});

test.each([["exec", "run"], ["feature", "run auth"], ["spec", "build"], ["gsd", "run --plan 01-01"]])(
  "a file that a person has deleted and the turn makes again: the run stops after that turn and names it, %s",
  async (workflow, command) => {
    const stories = JSON.stringify({
      branchName: "main",
      userStories: [{
        id: "US-001",
        title: "A",
        acceptanceCriteria: ["Verify: `grep -q right one.txt`"],
        priority: 1,
        passes: false,
        notes: "",
      }],
    });
    const worker = `prompt=$(cat); echo x >> ../turns; echo right > one.txt
printf '%s\\n' "$prompt" | grep -o '###PLAN_COMPLETE [a-z0-9]*###' | head -1
[ "$RALPH_STAGE" = BUILD ] && ralph task done
[ ${workflow} = feature ] && echo "<ralph>DONE</ralph>" || echo "<promise>COMPLETE</promise>"`;
    const auth = [story("US-001", { acceptanceCriteria: ["Verify: `grep -q right one.txt`"] })];
    const plan = [
      { t: "spec", spec: "s.md", planned: true },
      { t: "task", id: "t-1", spec: "s.md", name: "a", s: "p", accept: "Verify: `grep -q right one.txt`" },
    ];
    const config = JSON.stringify({ workflow, provider: { command: "worker" } });
    const { git, root, read, stderr } = await ralphCli().agent("worker", worker).before("rm one.txt")
      .files({
        ...PROJECT,
        "scripts/ralph/prd.json": stories,
        [PRD_FILE]: prd(auth),
        "s.md": "# S\n",
        "ralph/plan.jsonl": plan.map((line) => `${JSON.stringify(line)}\n`).join(""),
        "ralph.config.json": config,
        "one.txt": "right\n",
      })
      .args(...command.split(" ")).expectExit(1);

    expect(read("../turns")).toBe("x\n");
    expect(stderr).toContain(
      "without one.txt, which you have deleted and not committed: commit that, or bring it back",
    );
    expect(stderr).toContain("\nhint: ");
    expect(git("status", "--porcelain")).toBe("D one.txt");

    git("restore", "one.txt");
    const again = await ralphCli(root).args(...command.split(" ")).start().ended();
    expect(again.stderr).not.toContain("deleted and not committed");
  },
);
