import { expect, test } from "vitest";
import { ralphCli } from "./cli.ts";

const SOURCE = `exports.add = (a, b) => {
  if (a === 0) {
    return b
  }
  return a + b
}
`;
const TEST = `require("node:test")("adds", () => require("node:assert").equal(require("../lib/a.js").add(1, 2), 3))\n`;
const V8 = "NODE_V8_COVERAGE=cov node --test test/";
const LCOV =
  "node --test --experimental-test-coverage --test-reporter=lcov --test-reporter-destination=lcov.info test/";

/** A story whose test leaves the third line out. */
function project(...checks: readonly string[]): ReturnType<typeof ralphCli> {
  const story = {
    id: "US-001",
    title: "Add",
    acceptanceCriteria: checks.map((check) => `Verify: \`${check}\``),
    priority: 1,
    passes: false,
    notes: "",
  };
  return ralphCli().dirty({
    "scripts/ralph/prd.json": JSON.stringify({ branchName: "ralph/add", userStories: [story] }),
  })
    .agent(
      "worker",
      `cat > /dev/null; mkdir -p lib test; printf '%s' '${SOURCE}' > lib/a.js; printf '%s' '${TEST}' > test/a.test.js; echo '<promise>COMPLETE</promise>'`,
    ).args("run", "--agent-cmd", "worker");
}

test.each([["V8", V8, "3"], ["lcov", LCOV, "3-4"]])(
  "added lines that no check ran are named, by the %s that a check wrote",
  { timeout: 300_000 },
  async (_, check, lines) => {
    const { root, stderr } = await project(check).expectExit(0);

    expect(stderr).toContain(`  not run  lib/a.js:${lines}: added lines that no check ran, by their own coverage\n`);
    const { stdout } = await ralphCli(root).args("report", "--for", "review").expectExit(0);
    expect(stdout).toContain(`- not run: lib/a.js:${lines}: added lines`);
  },
);

const OTHER = `NODE_V8_COVERAGE=cov node -p 'require("./lib/a.js").add(0, 1)'`;

test.each([["another check ran the lines", V8, OTHER], ["no check tells", "node --test test/"]])(
  "nothing is said where %s",
  { timeout: 300_000 },
  async (_, ...checks) => {
    expect((await project(...checks).expectExit(0)).stderr).not.toContain("not run");
  },
);
