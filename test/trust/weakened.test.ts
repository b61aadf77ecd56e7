/** Judges that agree with the old ones on the work, and notice less than they did. */
import { execFileSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { memoryBacklog } from "../../lib/backlog/memory.ts";
import { runLoop } from "../../lib/loop/run/run_loop.ts";
import { loopWorld } from "../loop/loop_world.ts";
import { needs, SANDBOX } from "../needs.ts";

/** Two products and their tests; a check that runs every test. */
const SHELL = {
  "src/add.sh": "echo $(($1 + $2))\n",
  "src/mul.sh": "echo $(($1 * $2))\n",
  "test/add.sh": 'test "$(sh src/add.sh 2 3)" = 5\n',
  "test/mul.sh": 'test "$(sh src/mul.sh 2 3)" = 6\n',
  "scripts/check.sh": "set -e\nfor test in test/*.sh; do sh $test; done\n",
};
const { "src/mul.sh": _product, "test/mul.sh": _test, ...ADD } = SHELL;
/** One of the two in a language whose tests can be skipped. */
const JAVASCRIPT = {
  ...ADD,
  "src/mul.mjs": "export const mul = (a, b) => a * b;\n",
  "test/mul.test.mjs": 'import test from "node:test";\nimport assert from "node:assert/strict";\n' +
    'import { mul } from "../src/mul.mjs";\n\ntest("mul", () => {\n  assert.equal(mul(2, 3), 6);\n});\n',
  "package.json": '{ "type": "module" }\n',
  "scripts/check.sh": `${SHELL["scripts/check.sh"]}[ ! -e test/mul.test.mjs ] || node test/mul.test.mjs\n`,
};
const CHECKS = ["sh scripts/check.sh"];
const WORK = "echo 'echo 1' > src/one.sh";

/** One run of an item that writes `src/one.sh`, and does this beside it. */
async function ran(files: Readonly<Record<string, string>>, beside: string, strict = false) {
  const world = await loopWorld(({ cwd }) => {
    execFileSync("sh", ["-ec", `${WORK}; ${beside}`], { cwd, stdio: "pipe" });
    return Promise.resolve({ lines: ["<ralph>DONE</ralph>"] });
  }, { files, ...strict ? { config: { trust: "strict" } } : {} });
  const item = { id: "a", title: "One", checks: [...CHECKS, "test -f src/one.sh"] };
  const outcome = await runLoop(world.ralph, memoryBacklog([item]), { maxIterations: 1 });
  return Object.assign(world, { outcome });
}

describe("a check that the work leaves green, and that would notice less from now on", () => {
  test.each([
    ["does nothing", SHELL, "echo exit 0 > scripts/check.sh", "test/add.sh"],
    ["runs fewer tests", SHELL, "sed -i 's#test/\\*.sh#test/add.sh#' scripts/check.sh", "test/mul.sh"],
    ["has lost a test", SHELL, "rm test/mul.sh", "src/mul.sh"],
    ["has lost a test of JavaScript", JAVASCRIPT, "rm test/mul.test.mjs", "src/mul.mjs"],
  ])("it %s: the item fails", async (_, files, cheat, file) => {
    await using world = await ran(files, cheat);

    expect(world.outcome.status).not.toBe("passed");
    expect(world.outcome.notices).toContainEqual(expect.objectContaining({ kind: "cannot-fail", subject: file }));
  });

  const SKIPS = [["skipped", "skip"], ["to do", "todo"]];
  const skipped = (how: string) => `sed -i 's/^test(/test.${how}(/' test/mul.test.mjs`;

  test.each(SKIPS)("a test is %s: it is named", async (_, how = "") => {
    await using world = await ran(JAVASCRIPT, skipped(how));

    expect(world.outcome.status).toBe("passed");
    expect(world.outcome.notices).toContainEqual(
      expect.objectContaining({ kind: "cannot-fail", subject: "test/mul.test.mjs" }),
    );
  });

  test.each(SKIPS)("a test is %s: a strict item fails", needs(...SANDBOX), async (_, how = "") => {
    await using world = await ran(JAVASCRIPT, skipped(how), true);

    expect(world.outcome.status).not.toBe("passed");
  });

  test("it has lost a test that came with an item before: the item fails", async () => {
    const turns = [
      `${WORK}; echo 'test "$(sh src/one.sh)" = 1' > test/one.sh`,
      "echo 2 > two.txt; rm test/one.sh",
    ];
    await using world = await loopWorld(({ cwd }, number) => {
      execFileSync("sh", ["-ec", turns[number - 1] ?? ""], { cwd, stdio: "pipe" });
      return Promise.resolve({ lines: ["<ralph>DONE</ralph>"] });
    }, { files: SHELL });
    const items = [["a", "test -f src/one.sh"], ["b", "test -f two.txt"]].map(([id = "", check = ""]) => ({
      id,
      title: id,
      checks: [...CHECKS, check],
    }));

    const outcome = await runLoop(world.ralph, memoryBacklog(items), { maxIterations: 2 });

    expect(outcome.status).not.toBe("passed");
    expect(outcome.notices).toContainEqual(expect.objectContaining({ kind: "cannot-fail", subject: "src/one.sh" }));
  });

  test.each([
    ["renamed", "git mv test/mul.sh test/product.sh"],
    ["moved into another", "cat test/mul.sh >> test/add.sh; rm test/mul.sh"],
    ["written anew", "echo 'test 20 = \"$(sh src/mul.sh 4 5)\"' > test/mul.sh"],
    ["run in another way", "sed -i 's/sh $test/sh -u $test/' scripts/check.sh"],
    ["gone with what it was about", "git rm -q test/mul.sh src/mul.sh"],
  ])("an honest change accuses nobody: a test is %s", async (_, change) => {
    await using world = await ran(SHELL, change);

    const named = world.outcome.notices.filter(({ kind }) => kind === "cannot-fail");
    expect(named).toEqual([]);
  });
});
