import { describe, expect, test } from "vitest";
import { type CliResult, ralphCli } from "./cli.ts";

const REAL = `import { add } from "../add.mjs";
import assert from "node:assert";
import { test } from "node:test";
test("add", () => assert.equal(add(1, 2), 3));
`;
const PRD = JSON.stringify({
  branchName: "main",
  userStories: [{
    id: "US-001",
    title: "add two numbers",
    acceptanceCriteria: ["It adds. Verify: `node --test`"],
    priority: 1,
    passes: false,
    notes: "",
  }],
});
const WEAKENS = `n=$(sed -n 's/.*<promise \\([^>]*\\)>.*/\\1/p' | head -1)
sed -i.bak 's/assert.equal(add(1, 2), 3)/add(1, 2)/' test/add.test.mjs; rm -f test/*.bak
echo "<promise $n>COMPLETE</promise>"`;

async function run(root: string | undefined, ...args: readonly string[]): Promise<CliResult> {
  const cli = ralphCli(root).files({
    "scripts/ralph/prd.json": PRD,
    "add.mjs": "export function add() { return 0; }\n",
    "test/add.test.mjs": REAL,
  });
  return await cli.agent("worker", WEAKENS).args("run", "--agent-cmd", "worker", ...args).start().ended();
}

describe("a run that passed with changed tests, to which nobody agreed", () => {
  test("is named again by a strict run that takes no turn, and by status", async () => {
    const { root, stderr, exitCode } = await run(undefined);
    expect(exitCode).toBe(0);
    expect(stderr).toContain("test/add.test.mjs");

    const strict = await run(root, "--strict", "--no-sandbox");
    expect(strict.stderr).toContain("test/add.test.mjs");
    const { stdout } = await ralphCli(root).args("status").start().ended();
    expect(stdout).toContain("test/add.test.mjs");
  });

  test("is not named again after --accept-changes", async () => {
    const { root } = await run(undefined, "--accept-changes");

    const { stderr } = await run(root);
    expect(stderr).not.toContain("test/add.test.mjs");
  });
});
