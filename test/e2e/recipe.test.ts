import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ralphCli, type Running } from "./cli.ts";

const RECIPE = `import { defineRecipe, gate, runLoop, todoBacklog } from "ralph";
import { z } from "zod";
export default defineRecipe({
  name: "mine",
  args: z.object({ file: z.string().default("TODO.md") }),
  async run(ralph, { file }) {
    const go = await gate(ralph, { name: "go", message: "Go?", next: ["ralph exec --approve go"] });
    return go.status === "approved" ? runLoop(ralph, todoBacklog(ralph, { file })) : go;
  },
});
`;
const FILES = { "ralph.recipe.ts": RECIPE, "TODO.md": "- [ ] make a. Verify: `test -f a`\n" };
const WORKER = 'touch a; echo "<ralph>DONE</ralph>"';

const STORE = `import { defineRecipe, runLoop } from "ralph";
import { listBacklog } from "ralph/backlog";
const isTasks = (value: unknown): value is Record<string, boolean> => typeof value === "object" && value !== null;
function tasks({ state }) {
  const file = state.json("tasks.json", isTasks);
  return listBacklog<[string, boolean]>({
    name: "tasks",
    stateFiles: [file.path],
    read: async () => Object.entries(await file.read()),
    write: (ids, done) => file.update((all) => ({ ...all, ...Object.fromEntries(ids.map((id) => [id, done])) })),
    itemOf: ([title, done]) => ({ id: title, title, done, checks: ["true"] }),
  });
}
export default defineRecipe({ name: "tasks", backlog: tasks, run: (ralph) => runLoop(ralph, tasks(ralph)) });
`;

describe("a recipe of one's own", () => {
  test.each([
    ["broken", { "tasks.json": '{\n  "a": fals' }, "tasks.json: not valid JSON: line 2, column 8"],
    ["of another shape", { "tasks.json": "42" }, "tasks.json: it holds something else than expected"],
    ["missing", {}, "tasks.json does not exist\nhint: make the file, or correct its path\n"],
  ])("names its state file that is %s", async (_name, files: Record<string, string>, problem) => {
    for (const command of ["status", "next", "verify"]) {
      const { stdout, stderr } = await ralphCli().files({ "ralph.recipe.ts": STORE, ...files })
        .args(command, "--recipe", "ralph.recipe.ts").expectExit(2);

      expect(`${stdout}${stderr}`).toContain(problem);
    }
  });

  test.each([
    ["a command that fails", "await ralph.$`exit 3`.quiet();", "mine.ts threw: ShellError: Exited with code: 3"],
    [
      "a secret in its error",
      "throw new Error(`after 3 ${process.env.MY_TOKEN}`);",
      "mine.ts threw: Error: after 3 ***",
    ],
  ])("%s is the recipe's failure, in words that hold no secret", async (_name, body, message) => {
    const text = `import { defineRecipe } from "ralph";
export default defineRecipe({ name: "mine", async run(ralph) { ${body} return { status: "passed" }; } });
`;
    const { stderr } = await ralphCli().files({ "mine.ts": text }).env({ MY_TOKEN: "s3cret-s3cret-s3cret" })
      .args("run-recipe", "mine.ts").expectExit(70);

    expect(stderr).toContain(message);
    expect(stderr).not.toContain("a bug in Ralph");
    expect(stderr).not.toContain("s3cret");
  });

  test("runs by `ralph exec` without a goal where it takes none", async () => {
    const { git, read } = await ralphCli().files(FILES).agent("worker", WORKER)
      .args("exec", "--recipe", "ralph.recipe.ts", "--agent-cmd", "worker", "--approve", "go").expectExit(0);

    expect(git("log", "--format=%s")).toBe("feat: make a\nstart");
    expect(read("TODO.md")).toBe("- [x] make a. Verify: `test -f a`\n");
  });

  test("takes Ralph's flags after its file, and says what is running after a no", async () => {
    const { read, stderr } = await ralphCli().files(FILES).agent("worker", WORKER)
      .args("run-recipe", "ralph.recipe.ts", "--agent-cmd", "worker", "--non-interactive").expectExit(0);

    expect(stderr).toContain("Next\n  ralph exec --approve go\n");
    expect(read("a")).toBeNull();
  });

  test("items without a check are checked by `--verify`, as the way out says", async () => {
    const files = { ...FILES, "TODO.md": "- [ ] make a\n" };

    const without = await ralphCli().files(files).agent("worker", WORKER)
      .args("run-recipe", "ralph.recipe.ts", "--agent-cmd", "worker", "--approve", "go").expectExit(3);
    const given = await ralphCli().files(files).agent("worker", WORKER)
      .args("run-recipe", "ralph.recipe.ts", "--agent-cmd", "worker", "--approve", "go", "--verify", "test -f a")
      .expectExit(0);

    expect(without.stderr).toContain('give one for this run: `--verify "npm test"` (repeatable)');
    expect(given.stderr).toContain("check passed: test -f a");
  });

  test("that forgets its `return` warns and does not end with 0", async () => {
    const forgets =
      'import { defineRecipe, verify } from "ralph";\nexport default defineRecipe({ name: "mine", async run(ralph) { await verify(ralph, ["false"]); } });\n';

    const { stderr } = await ralphCli().files({ "mine.mjs": forgets }).args("run-recipe", "mine.mjs").expectExit(1);

    expect(stderr).toContain("check failed: false");
    expect(stderr).toContain("warning: the recipe returned no outcome");
  });
});

describe("the first recipe of the guide, stopped by a person", () => {
  const guide = readFileSync(new URL("../../docs/guides/recipes.md", import.meta.url), "utf8");
  const [, example = ""] = /```ts ignore\n(.*?)```/s.exec(guide) ?? [];
  const files = {
    "ralph.recipe.ts": example.replace("npm test", "true"),
    "TODO.md": ["one", "two"].map((name) => `- [ ] ${name}. Verify: \`test -f ${name}\`\n`).join(""),
  };
  const worker =
    `test -f one && n=two || n=one; echo x > ../at-$n; until test -f ../go || [ $((waits = waits + 1)) -gt 1200 ]; do sleep 0.1; done; touch $n
echo "<ralph>DONE</ralph>"`;

  function start(...flags: readonly string[]): Running {
    return ralphCli().files(files).agent("worker", worker)
      .args("run-recipe", "ralph.recipe.ts", "--agent-cmd", "worker", ...flags).start();
  }

  test("`ralph stop` ends it as declined, and the step after the loop does not run", async () => {
    const running = start("--non-interactive");
    await running.wrote("../at-one");
    await ralphCli(running.root).args("stop").expectExit(0);
    writeFileSync(join(running.root, "../go"), "");
    const { stderr, read } = await running.ended();

    expect(stderr).toContain("declined: 1 verified in 1 iteration");
    expect(stderr).not.toMatch(/✓ .*passed$|check passed: true/m);
    expect(read("TODO.md")).toContain("- [ ] two");
  });

  test("`ralph stop --now` and Ctrl-C end it as aborted", async () => {
    const [stopped, interrupted] = [start("--non-interactive"), start("--non-interactive")];
    for (const running of [stopped, interrupted]) await running.wrote("../at-one");
    await ralphCli(stopped.root).args("stop", "--now").expectExit(0);
    interrupted.child.kill("SIGINT");

    for (const running of [stopped, interrupted]) {
      const { exitCode, stderr } = await running.ended();
      expect([exitCode, stderr]).toEqual([130, expect.stringContaining("aborted")]);
      expect(stderr).not.toContain("check passed: true");
    }
  });

  test("a no between two items ends it as declined", async () => {
    const { stderr, stdout, read } = await ralphCli().files(files).agent("worker", `touch ../go; ${worker}`)
      .args("run-recipe", "ralph.recipe.ts", "--agent-cmd", "worker", "--interactive")
      .terminal(["Continue with the next iteration?", "n\r"]).expectExit(0);

    expect(stdout + stderr).toContain("declined: 1 verified in 1 iteration");
    expect(read("TODO.md")).toContain("- [ ] two");
  });
});
