import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { VERSION } from "../../lib/host/version.ts";
import { SHIPPED_RECIPES } from "../../lib/program/shipped_recipes.ts";
import { RECIPE_TEXTS } from "../../lib/generated/recipes.ts";
import { testContext } from "ralph/testing";

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

describe("recipes", () => {
  test.each(SHIPPED_RECIPES)("$name is embedded as it stands", ({ name }) => {
    expect(RECIPE_TEXTS[name]).toBe(readFileSync(join(ROOT, "recipes", `${name}.ts`), "utf8"));
  });

  test("todo ticks what its checks have passed, and nothing else", async () => {
    await using ralph = await testContext({
      files: {
        "TODO.md": "# Mine\n- [ ] make a.txt\n- [x] old\n",
        "ralph.config.json": JSON.stringify({ verify: { default: ["test -f a.txt"] } }),
      },
      agent: { turns: [{ say: "<ralph>DONE</ralph>" }, { write: { "a.txt": "a" }, say: "<ralph>DONE</ralph>" }] },
    });
    const todo = await SHIPPED_RECIPES.find(({ name }) => name === "todo")!.load();

    const outcome = await todo.run(ralph, { goal: "" });

    expect(outcome).toMatchObject({ status: "passed", passed: ["2: make a.txt"], turns: 2 });
    expect(await ralph.state.read("TODO.md")).toBe("# Mine\n- [x] make a.txt\n- [x] old\n");
  });
});

test("VERSION is the manifests'", () => {
  for (const manifest of ["package.json", "deno.json"]) {
    expect(JSON.parse(readFileSync(join(ROOT, manifest), "utf8")).version).toBe(VERSION);
  }
});

test("a recipe file is a program of its own under Bun", () => {
  const bun = join(ROOT, "node_modules/bun/bin/bun.exe");
  const { status, stdout } = spawnSync(bun, [join(ROOT, "recipes/todo.ts"), "--help"], { encoding: "utf8" });

  expect([status, stdout.split("\n")[0]]).toEqual([0, "work off TODO.md"]);
});
