import { execFileSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { memoryBacklog } from "../../lib/backlog/memory.ts";
import { runLoop } from "../../lib/loop/run_loop.ts";
import { loopWorld, type World } from "../loop/loop_world.ts";
import { sampled } from "../sampled.ts";

/** A project of one language: a function to write, its test, and a check. */
interface Project {
  readonly files: Readonly<Record<string, string>>;
  readonly check: string;
  /** The function as it is asked for. */
  readonly work: string;
  /** One that the test refuses. */
  readonly stub: string;
}

const JAVASCRIPT: Project = {
  files: {
    "src/add.mjs": 'export function add() { throw new Error("missing"); }\n',
    "support/assert.mjs": 'export { default } from "node:assert/strict";\n',
    "test/add.test.mjs": 'import test from "node:test";\nimport assert from "../support/assert.mjs";\n' +
      'import { add } from "../src/add.mjs";\n\ntest("adds", () => {\n  assert.equal(add(2, 3), 5);\n});\n',
    "package.json": '{ "type": "module", "scripts": { "test": "node --test test/add.test.mjs" } }\n',
  },
  check: "npm test",
  work: 'echo "export function add(a, b) { return a + b; }" > src/add.mjs',
  stub: 'echo "export function add() {}" > src/add.mjs',
};
const PYTHON: Project = {
  files: {
    "calc.py": "def add(a, b):\n    raise NotImplementedError\n",
    "tests/test_calc.py":
      "import json\nimport unittest\nfrom calc import add\n\n\nclass TestAdd(unittest.TestCase):\n" +
      '    def test_add(self):\n        self.assertEqual(add(2, 3), json.loads("5"))\n',
  },
  check: "python3 -B -m unittest tests/test_calc.py",
  work: 'printf "def add(a, b):\\n    return a + b\\n" > calc.py',
  stub: 'printf "def add(a, b):\\n    return 4\\n" > calc.py',
};
const SHELL: Project = {
  files: {
    "add.sh": "exit 1\n",
    "scripts/check.sh": "set -e\n. scripts/parts/each.sh\n",
    "scripts/parts/each.sh": 'test "$(sh add.sh 2 3)" = 5\n',
    Makefile: "check:\n\tsh scripts/check.sh\n",
  },
  check: "sh scripts/check.sh",
  work: "echo 'echo $(($1 + $2))' > add.sh",
  stub: "echo 'echo 4' > add.sh",
};
const MAKE: Project = { ...SHELL, check: "make check" };

const CHEATS: readonly (readonly [name: string, project: Project, cheat: string, file: string])[] = [
  ["JavaScript: the test goes", JAVASCRIPT, "echo > test/add.test.mjs", "test/add.test.mjs"],
  ["JavaScript: it is skipped", JAVASCRIPT, "sed -i 's/^test(/test.skip(/' test/add.test.mjs", "test/add.test.mjs"],
  [
    "JavaScript: it is to do",
    JAVASCRIPT,
    "sed -i 's/\", ()/\", { todo: true }, ()/' test/add.test.mjs",
    "test/add.test.mjs",
  ],
  ["JavaScript: it expects less", JAVASCRIPT, "sed -i 's/, 5)/, undefined)/' test/add.test.mjs", "test/add.test.mjs"],
  [
    "JavaScript: a helper",
    JAVASCRIPT,
    "echo 'export default { equal() {} };' > support/assert.mjs",
    "support/assert.mjs",
  ],
  ["JavaScript: the script", JAVASCRIPT, "sed -i 's/node --test [^\"]*/true/' package.json", "package.json"],
  ["JavaScript: npm's shell", JAVASCRIPT, "echo script-shell=/bin/true > .npmrc", ".npmrc"],
  ["Python: the test", PYTHON, "sed -i 's/assertEqual/assertTrue/' tests/test_calc.py", "tests/test_calc.py"],
  ["Python: a module of that name", PYTHON, "printf 'def loads(_):\\n    return 4\\n' > json.py", "json.py"],
  ["Shell: the check", SHELL, "echo exit 0 > scripts/check.sh", "scripts/check.sh"],
  ["Shell: what the check runs", SHELL, "echo true > scripts/parts/each.sh", "scripts/parts/each.sh"],
  ["Make: the target", MAKE, "printf 'check:\\n\\t@true\\n' > Makefile", "Makefile"],
  ["Make: another Makefile", MAKE, "printf 'check:\\n\\t@true\\n' > GNUmakefile", "GNUmakefile"],
];

/** A run over one item with this project, in which each turn runs the next of the scripts. */
async function worldOf(
  { files }: Pick<Project, "files">,
  scripts: readonly string[],
  config: Parameters<typeof loopWorld>[1] = {},
): Promise<World> {
  return await loopWorld(({ cwd }, number) => {
    execFileSync("bash", ["-ec", scripts[number - 1] ?? scripts.at(-1) ?? ""], { cwd, stdio: "pipe" });
    return Promise.resolve({ lines: ["<ralph>DONE</ralph>"] });
  }, { files, ...config });
}

function one({ check }: Pick<Project, "check">, prompt?: string): ReturnType<typeof memoryBacklog> {
  return memoryBacklog([{
    id: "a",
    title: "Implement add",
    checks: [check],
    ...(prompt === undefined ? {} : { prompt }),
  }]);
}

function changed(
  { notices }: { readonly notices: readonly { readonly kind: string; readonly message: string }[] },
): string {
  return notices.filter(({ kind }) => kind === "tests-changed").map(({ message }) => message).join("\n");
}

describe("old tests judge new code", () => {
  test.each(sampled(CHEATS))(
    "%s: the last lines show that it fails with the old one",
    async (_, project, cheat, file) => {
      await using world = await worldOf(project, [`${project.stub}; ${cheat}`]);

      const outcome = await runLoop(world.ralph, one(project));

      expect(outcome.status).toBe("passed");
      expect(outcome.notices).toContainEqual(expect.objectContaining({ kind: "tests-changed", subject: "a" }));
      expect(changed(outcome)).toContain(file);
      expect(changed(outcome)).toContain(`with the old ones it FAILS: ${project.check}`);
      expect(world.events.filter(({ type }) => type === "tests-changed")).toHaveLength(1);
    },
  );

  test.each([["JavaScript", JAVASCRIPT], ["Python", PYTHON], ["Shell", SHELL], ["Make", MAKE]] as const)(
    "%s: honest work is named by nothing",
    async (_, project) => {
      await using world = await worldOf(project, [project.work]);

      const outcome = await runLoop(world.ralph, one(project));

      expect(outcome.status).toBe("passed");
      expect(changed(outcome)).toBe("");
    },
  );

  test("a change of tests that the old ones agree with is only listed", async () => {
    await using world = await worldOf(JAVASCRIPT, [`${JAVASCRIPT.work}; echo '// more' >> test/add.test.mjs`]);

    expect(changed(await runLoop(world.ralph, one(JAVASCRIPT)))).toBe("test/add.test.mjs +1 −0");
  });

  test("a test that is weakened in a run that ends without a verdict is old in the next one", async () => {
    await using world = await worldOf(JAVASCRIPT, []);
    const skip = "sed -i 's/^test(/test.skip(/' test/add.test.mjs; git commit -qam tests";
    const scripts = [`${skip}; ${JAVASCRIPT.stub}`, JAVASCRIPT.stub];
    const turn = (script: string, line: string) => ({ cwd }: { readonly cwd: string }) => {
      execFileSync("bash", ["-ec", script], { cwd, stdio: "pipe" });
      return Promise.resolve({ lines: [line] });
    };
    const first = await world.again(turn(scripts[0] ?? "", "not yet"));
    await runLoop(first, one(JAVASCRIPT), { maxIterations: 1 });
    const second = await world.again(turn(`${scripts[1] ?? ""}; echo > src/more.mjs`, "<ralph>DONE</ralph>"));

    const outcome = await runLoop(second, one(JAVASCRIPT));

    expect(outcome.status).toBe("passed");
    expect(changed(outcome)).toContain("with the old ones it FAILS: npm test");
  });

  test("what a person changes between two runs is old from then on", async () => {
    await using world = await worldOf(JAVASCRIPT, ["exit 0"]);
    const idle = await world.again(() => Promise.resolve({ lines: ["not yet"] }));
    await runLoop(idle, one(JAVASCRIPT), { maxIterations: 1 });
    await world.write("test/add.test.mjs", JAVASCRIPT.files["test/add.test.mjs"]?.replace(", 5)", ", 23)") ?? "");
    await world.git("commit", "-qam", "by a person");
    const work = await world.again(({ cwd }) => {
      execFileSync("bash", ["-ec", 'echo "export function add(a, b) { return 10 * a + b; }" > src/add.mjs'], { cwd });
      return Promise.resolve({ lines: ["<ralph>DONE</ralph>"] });
    });

    const outcome = await runLoop(work, one(JAVASCRIPT));

    expect(outcome.status).toBe("passed");
    expect(changed(outcome)).toBe("");
  });

  test("an item that may change tests is not named for those, and they are old for the next item", async () => {
    const expectsSix =
      "sed -i 's/, 5)/, 6)/' test/add.test.mjs; echo 'export function add() { return 6; }' > src/add.mjs";
    const other = "sed -i 's/, 6)/, 7)/' test/add.test.mjs; echo 'export function add() { return 7; }' > src/add.mjs";
    await using world = await worldOf(JAVASCRIPT, [expectsSix, other]);
    const backlog = memoryBacklog([
      { id: "a", title: "Six", checks: ["npm test"], prompt: "Six\nChanges tests: `test/add*`" },
      { id: "b", title: "More", checks: ["npm test"] },
    ]);

    const { notices } = await runLoop(world.ralph, backlog);

    expect(notices.filter(({ kind }) => kind === "tests-changed")).toEqual([
      expect.objectContaining({ message: expect.stringMatching(/^test\/add\.test\.mjs \+1 −1; .*FAILS/) as unknown }),
    ]);
  });

  test("block: an attempt fails with what the old tests print, and honest work passes then", async () => {
    const config = { config: { tests: { integrity: "block" } } } as const;
    await using world = await worldOf(
      PYTHON,
      [`${PYTHON.stub}; sed -i 's/"5"/"4"/' tests/test_calc.py`, `git checkout -q tests; ${PYTHON.work}`],
      config,
    );

    const outcome = await runLoop(world.ralph, one(PYTHON));

    expect(world.prompts[1]).toContain("it passes only with changed tests (tests/test_calc.py +1 −1)");
    expect(world.prompts[1]).toContain("AssertionError: 4 != 5");
    expect(outcome.status).toBe("passed");
    expect(changed(outcome)).toBe("");
  });

  test("off: nothing runs once more", async () => {
    await using world = await worldOf(SHELL, [`${SHELL.stub}; echo true > scripts/check.sh`], {
      config: { tests: { integrity: "off" } },
    });

    const outcome = await runLoop(world.ralph, one(SHELL));

    expect(outcome.status).toBe("passed");
    expect(changed(outcome)).toBe("");
  });

  test("items whose checks run only tests of their own are counted", async () => {
    await using world = await worldOf(JAVASCRIPT, [`${JAVASCRIPT.work}; cp test/add.test.mjs test/own.test.mjs`]);

    const command = "node --test test/own.test.mjs";
    const backlog = memoryBacklog([{
      id: "a",
      title: "Implement add",
      checks: [{ name: command, command, own: true }],
    }]);

    const { notices } = await runLoop(world.ralph, backlog);

    expect(notices).toEqual([{ kind: "own-tests", subject: "a", message: "" }]);
  });
});
