import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import { ralphCli } from "./cli.ts";

const INIT = ["init", "--agent-cmd", "cat", "--verify", "test -f a.txt"];
const PRD = JSON.stringify({
  branchName: "main",
  userStories: [{
    id: "US-001",
    title: "Add a.txt",
    acceptanceCriteria: ["Verify: `test -f a.txt`"],
    priority: 1,
    passes: false,
    notes: "",
  }],
});
const CONFIG = { "ralph.config.json": JSON.stringify({ provider: { command: "cat" } }) };
const CHECKED = {
  "ralph.config.json": JSON.stringify({ provider: { command: "cat" }, verify: { default: ["test -f a.txt"] } }),
};

const READY = { ...CHECKED, "scripts/ralph/prd.json": PRD };
const PLAN = { "plan.json": PRD.replace('"passes"', '"done":false,"passes"') };

/** A person's files beside the project. */
const OUTSIDE = {
  "bashrc": "alias l=ls\n",
  "folder/own.txt": "own\n",
  "config.json": `${CHECKED["ralph.config.json"]}\n`,
};

/** A command, the link that was committed, and the path in the outside folder to which it leads. */
type Case = [args: readonly string[], link: string, to: string, files: Readonly<Record<string, string>>];

const CASES: readonly Case[] = [
  [INIT, ".ralph/schema/.gitignore", "bashrc", {}],
  [INIT, ".ralph/schema/config.json", "new.json", {}],
  [INIT, "ralph.config.json", "new.json", {}],
  [INIT, ".ralph", "folder", {}],
  [["init", "--verify", "test -s a.txt"], "ralph.config.json", "config.json", {}],
  [[...INIT, "--workflow", "feature"], ".ralph/.gitignore", "new.txt", {}],
  [[...INIT, "--workflow", "spec"], "ralph", "folder", {}],
  [[...INIT, "--workflow", "sprint"], ".claude", "folder", {}],
  [["eject", "exec_run"], ".ralph", "folder", {}],
  [["eject", "exec_run"], ".ralph/prompts/exec_run.md", "new.md", {}],
  [["eject", "exec_run"], ".ralph/prompts/exec_run.md", "bashrc", {}],
  [["skill", "install", "claude"], ".claude", "folder", {}],
  [["skill", "install", "claude"], ".claude/skills/ralph/SKILL.md", "new.md", {}],
  [["skill", "install", "claude", "--gate"], ".claude/settings.json", "new.json", {}],
  [["import", "plan.json", "--approve", "import"], "scripts", "folder", PLAN],
  [["import", "plan.json", "--approve", "import"], "scripts/ralph/codebase_map.md", "new.md", PLAN],
  [["run"], "scripts/ralph/runs", "folder", READY],
  [["run"], "scripts/ralph/runs/.gitignore", "new.txt", READY],
  [["sprint", "run", "s"], "s", "folder", CONFIG],
  [["prd", "hello", "--non-interactive", "--approve", "all"], ".ralph", "folder", CONFIG],
];

/** Every path below the folder, with the text of a file. */
function contents(folder: string): Readonly<Record<string, string>> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => !entry.isDirectory());
  return Object.fromEntries(files.map(({ name, parentPath }) => {
    const path = join(parentPath, name);
    return [relative(folder, path), readFileSync(path, "utf8")];
  }));
}

describe("files under Ralph's own names, where a committed link leads out of the project", () => {
  test.each<Case>(CASES)(
    "ralph %j makes and changes nothing by way of %s to %s",
    async (args, link, to, files) => {
      const cli = ralphCli().files({ "a.txt": "a\n", ...files }).args(...args);
      for (const [path, text] of Object.entries(OUTSIDE)) {
        cli.before(`mkdir -p "$(dirname ../outside/${path})" && printf '%s' '${text}' > ../outside/${path}`);
      }
      cli.before(`mkdir -p "$(dirname ${link})" && ln -s "$(dirname "$PWD")/outside/${to}" ${link}`);
      cli.before("git add -Af && git commit -qm link");

      const { root, stderr, git } = await cli.expectExit(2);

      expect(git("ls-files", "-s", link)).toMatch(/^120000 /);
      expect(stderr).toMatch(/error: .+ is outside \[ROOT\]/);
      expect(stderr).toContain("hint: name a path inside the root; symbolic links that lead out do not count\n");
      expect(contents(join(dirname(root), "outside"))).toEqual(OUTSIDE);
    },
  );

  test("a link that a turn leaves in the place of the runs' `.gitignore` is taken away, and nothing is made there", async () => {
    const { root, read } = await ralphCli().files({ ...READY, "ralph.config.json": "{}" })
      .agent(
        "worker",
        "ln -sf ../../../../new.txt scripts/ralph/runs/.gitignore; touch a.txt; echo '<promise>COMPLETE</promise>'",
      )
      .args("run", "--agent-cmd", "worker", "--no-sandbox").expectExit(0);

    expect(read("scripts/ralph/runs/.gitignore")).toBe("*\n");
    expect(existsSync(join(dirname(root), "new.txt"))).toBe(false);
  });

  test("a link that a turn leaves in the place of a gsd plan's SUMMARY is taken away, and none is made there", async () => {
    const folder = ".planning/phases/01-one";
    const { root, read } = await ralphCli().files({
      "ralph.config.json": "{}",
      ".planning/ROADMAP.md": "# Roadmap\n\n### Phase 1: One\n**Goal**: one\n",
      [`${folder}/01-01-PLAN.md`]: "---\nphase: 01-one\nplan: 01\n---\n<objective>one</objective>\n<tasks>" +
        '<task type="auto"><name>a</name><verify><automated>test -f a.txt</automated></verify></task></tasks>\n',
    })
      .agent(
        "worker",
        `ln -s ../../../../new.md ${folder}/01-01-SUMMARY.md; touch a.txt; echo '###PLAN_COMPLETE###'`,
      )
      .args("run", "--agent-cmd", "worker", "--no-sandbox").expectExit(0);

    expect(existsSync(join(dirname(root), "new.md"))).toBe(false);
    expect(read(`${folder}/01-01-SUMMARY.md`)).toContain("01-01");
  });

  test("`ralph init` keeps a `.gitignore` that a person has beside the schema", async () => {
    const own = "config.json\n";

    const { read } = await ralphCli().files({ "a.txt": "a\n", ".ralph/schema/.gitignore": own }).args(...INIT)
      .expectExit(0);

    expect(read(".ralph/schema/.gitignore")).toBe(own);
    expect(read(".ralph/schema/config.json")).not.toBeNull();
  });
});
