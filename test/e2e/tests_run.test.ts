/** Tests that a check ran are shown by count, and failed ones by name: in the gate's formats and in a run's report. */
import { describe, expect, test } from "vitest";
import { GATE_SCHEMA } from "../../lib/report/schema.ts";
import { ralphCli } from "./cli.ts";

const SUMS = `import test from "node:test"; import assert from "node:assert"; import { add } from "./add.mjs";
test("adds", () => assert.equal(add(2, 3), 5));
test("adds <nothing>", () => assert.equal(add(0, 0), 0));
test.skip("adds later", () => {});
`;
const FILES = { "add.mjs": "export const add = (a, b) => a - b;\n", "add.test.mjs": SUMS, ".gitignore": "reports/\n" };
const FIXED = { "add.mjs": "export const add = (a, b) => a + b;\n" };
const TAP = "node --test --test-reporter=tap add.test.mjs";
const XML = "mkdir -p reports && node --test --test-reporter=junit add.test.mjs > reports/unit.xml";

describe.each([["TAP on its output", TAP, "adds"], ["JUnit in a file", XML, "test adds"]])(
  "a check with %s",
  (_, command, name) => {
    test("has its tests in the gate's formats", async () => {
      const project = ralphCli().files(FILES).prepare().root;
      const gate = (format: string): ReturnType<typeof ralphCli> =>
        ralphCli(project).args("gate", "--base", "HEAD", "--verify", command, "--format", format);
      const [check] = GATE_SCHEMA.parse(JSON.parse((await gate("json").expectExit(1)).stdout)).checks;
      expect(check?.tests).toEqual({ passed: 1, failed: 1, skipped: 1, failures: [name] });

      expect((await gate("markdown").expectExit(1)).stdout).toContain(`3 tests, 1 skipped, 1 failed: ${name} `);

      const { stdout } = await gate("junit").expectExit(1);
      expect(stdout).toContain(`name="${name}"`);
      expect(stdout).toContain('tests="2" failures="2"');

      const fixed = await ralphCli(project).dirty(FIXED)
        .args("gate", "--base", "HEAD", "--verify", command, "--format", "junit").expectExit(0);
      expect(fixed.stdout).toContain("<system-out>3 tests, 1 skipped</system-out>");
    });

    test("has them in the report of a run", async () => {
      const story = { id: "US-001", title: "Add", acceptanceCriteria: [`Verify: \`${command}\``], priority: 1 };
      const prd = { branchName: "main", userStories: [{ ...story, passes: false, notes: "" }] };
      const says = `n=$(sed -n 's/.*<promise \\([^>]*\\)>.*/\\1/p' | head -1); echo "<promise $n>COMPLETE</promise>"`;
      const { root } = await ralphCli().files({ ...FILES, "scripts/ralph/prd.json": JSON.stringify(prd) })
        .agent("worker", `${says}\necho '${FIXED["add.mjs"].trim()}' > add.mjs`)
        .args("run", "--agent-cmd", "worker").expectExit(0);

      expect((await ralphCli(root).args("report").expectExit(0)).stdout).toMatch(
        /✓ `.*`? \(.*, 3 tests, 1 skipped\)$/m,
      );
    });
  },
);
