import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { ARTEFACT, ralphCli } from "./cli.ts";

const STORY = { id: "US-001", title: "Add a", priority: 1, passes: false, notes: "" };
const PRD = JSON.stringify({
  branchName: "main",
  userStories: [{ ...STORY, acceptanceCriteria: ["Verify: `sh check.sh`"] }],
});
const FILES = {
  "scripts/ralph/prd.json": PRD,
  "check.sh": "test -f a\n",
  "ralph.config.json": '{ "protect": ["check.sh"] }\n',
};
/** Rewrites its check in the first turn, plants a hook, and does the work in the second. */
const WORKER =
  "if [ -f ../second ]; then touch a; else touch ../second; echo true > check.sh; echo x > .git/hooks/pre-commit; fi; echo '<promise>COMPLETE</promise>'";

describe("ralph restore", () => {
  test("brings back what the run found, but for what git would run; the run names what was changed", async () => {
    const { root, stderr } = await ralphCli().files(FILES).agent("worker", WORKER)
      .args("run", "--agent-cmd", "worker", "--no-sandbox").expectExit(0); // in a sandbox it plants no hook
    const ralph = (...args: string[]) =>
      spawnSync(ARTEFACT[0] ?? "", [...ARTEFACT.slice(1), ...args], { cwd: root, encoding: "utf8" });

    const dry = ralph("restore", "--dry-run");
    const before = readFileSync(join(root, "check.sh"), "utf8");
    const done = ralph("restore");

    expect(stderr).toContain("  restored  check.sh: changed during the run; ");
    expect([dry.status, before]).toEqual([0, "test -f a\n"]);
    expect(dry.stdout).toMatch(/^check\.sh {2}\/.*\/restored\/\d+-check\.sh\n$/);
    expect([done.status, done.stdout]).toEqual([0, "check.sh  as the run found it\n"]);
    expect(done.stderr).toMatch(
      /^left out: \.git\/hooks\/pre-commit \(`ralph restore .* \.git\/hooks\/pre-commit`\)$/m,
    );
    expect(readFileSync(join(root, "check.sh"), "utf8")).toBe("true\n");
    expect(existsSync(join(root, ".git/hooks/pre-commit"))).toBe(false);
  });

  test(
    "adds a story that a person wrote during a run to what the run has passed since; two edits of one place stay",
    async () => {
      const storyOf = (id: string, priority: number) => ({
        id,
        title: `Do ${id}`,
        acceptanceCriteria: [`Verify: \`test -f ${id}\``],
        priority,
        passes: false,
        notes: "",
      });
      const stories = [storyOf("US-001", 1), storyOf("US-002", 2)];
      const text = (userStories: readonly object[]): string =>
        `${JSON.stringify({ branchName: "main", userStories }, null, 2)}\n`;
      const added = text([...stories, storyOf("US-003", 3)]);
      const worker = (edit: string): string =>
        `prompt=$(cat); [ -f ../once ] || { touch ../once; ${edit}; }
case "$prompt" in *US-002*) touch US-002;; *) touch US-001;; esac
echo '<promise>COMPLETE</promise>'`;
      const project = (edit: string) =>
        ralphCli().files({ "scripts/ralph/prd.json": text(stories), "added.json": added }).agent("worker", worker(edit))
          .args("run", "--agent-cmd", "worker").expectExit(0);

      const { root } = await project("cp added.json scripts/ralph/prd.json");
      const restored = await ralphCli(root).args("restore").expectExit(0);
      const { userStories } = JSON.parse(restored.read("scripts/ralph/prd.json") ?? "");
      expect(restored.stdout).toBe("scripts/ralph/prd.json  with what the run found\n");
      expect(userStories.map(({ id, passes }: typeof STORY) => [id, passes])).toEqual([
        ["US-001", true],
        ["US-002", true],
        ["US-003", false],
      ]);

      const other = await project('sed -i \'s/"passes": false/"passes": null/\' scripts/ralph/prd.json');
      const left = await ralphCli(other.root).args("restore").expectExit(1);
      expect(left.stderr).toMatch(/prd\.json has changed since: left as it is; what the run found is \S+\/restored\//);
      expect(left.git("status", "--porcelain")).toBe("");
    },
    60_000,
  );
});
