import { describe, expect, test } from "vitest";
import { ralphCli } from "./cli.ts";

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

describe("a recipe of one's own", () => {
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
