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
      .args("run", "--agent-cmd", "worker").expectExit(0);
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
});
