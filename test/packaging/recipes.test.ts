import { rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { temporaryDirectory, writeAtomic } from "../../lib/host/files.ts";
import deno from "../../deno.json" with { type: "json" };
import { bunPath, denoPath, ROOT } from "../../tools/runtimes.mjs";
import { compile, finish, type Launch } from "./runtimes.ts";

const LOADER = join(ROOT, "test", "fixtures", "recipes", "load.ts");
const launches: Record<string, Launch> = {
  bun: [bunPath(), "--no-install", LOADER], // else Bun takes what is missing from its cache, or fetches it
  deno: [denoPath(), "run", "-A", LOADER],
};
const RUNTIMES = ["binary", "bun", "deno"];

beforeAll(async () => {
  launches["binary"] = [await compile(LOADER)];
});

afterAll(() => {
  const [program] = launches["binary"] ?? [];
  if (program !== undefined) rmSync(dirname(program), { recursive: true, force: true });
});

/** Loads `recipe` of these files in a folder that holds nothing else; places are told relative to it. */
async function load(runtime: string, files: Readonly<Record<string, string>>): Promise<unknown> {
  await using folder = await temporaryDirectory("ralph-recipe-");
  for (const [name, text] of Object.entries(files)) await writeAtomic(join(folder.path, name), text);
  const { stdout, stderr } = await finish(launches[runtime] as Launch, [Object.keys(files)[0] as string], folder.path);
  if (stdout === "") throw new Error(stderr);
  return JSON.parse(stdout.replaceAll(`${folder.path}/`, ""));
}

describe.each(RUNTIMES)("loadRecipe() in %s", (runtime) => {
  test("runs a recipe with types, ralph, zod, a helper and JSON where nothing is installed", async () => {
    const result = await load(runtime, {
      "mine.recipe.ts": `#!/usr/bin/env ralph
import { defineRecipe, RalphError, type Status } from "ralph";
import { z } from "zod";
import { double } from "./helper.ts";
import data from "./data.json" with { type: "json" };

interface Args { readonly goal: string }
const status: Status = "passed";

export default defineRecipe<Args>({
  name: "mine",
  args: z.object({ goal: z.string() }),
  async run(_ralph, { goal }) {
    const again = await import("ralph");
    return { status, goal, doubled: double(data.number), same: again.RalphError === RalphError };
  },
});
`,
      "helper.ts": "export function double(value: number): number {\n  return value * 2;\n}\n",
      "data.json": '{ "number": 21 }\n',
    });

    expect(result).toEqual({ status: "passed", goal: "g", doubled: 42, same: true });
  });

  test("says where the syntax is wrong, and shows the line", async () => {
    const result = await load(runtime, { "mine.ts": "const a: number = 1;\nconst b = = 2;\n" });

    expect(result).toMatchObject({ code: "recipe-invalid", exitCode: 2 });
    expect((result as Error).message).toMatch(
      /^mine\.ts:2:11: syntax error: .+\n\n {2}2 \| const b = = 2;\n {4}\| {11}\^$/,
    );
  });

  test("says where the syntax of a helper is wrong", async () => {
    const result = await load(runtime, {
      "mine.ts": 'import { q } from "./bad.ts";\nexport default q;\n',
      "bad.ts": "\n\nexport const q = ;\n",
    });

    expect((result as Error).message).toMatch(/^bad\.ts:3:18: syntax error: /);
  });

  test("names the missing export, with its line", async () => {
    const result = await load(runtime, {
      "mine.ts":
        'import { defineRecipe } from "ralph";\nimport {\n  runLop as run,\n} from "ralph";\nexport default defineRecipe(run);\n',
    });

    expect(result).toEqual({
      code: "recipe-invalid",
      exitCode: 2,
      message: "mine.ts:3:3: ralph has no export named runLop",
      hint: "did you mean `runLoop`?",
    });
  });

  test("names the subpath of a name that the root does not export", async () => {
    const result = await load(runtime, {
      "mine.ts": 'import { gsdBacklog, runLoop } from "ralph";\nexport default [gsdBacklog, runLoop];\n',
    });

    expect(result).toEqual({
      code: "recipe-invalid",
      exitCode: 2,
      message: "mine.ts:1:10: ralph has no export named gsdBacklog",
      hint: '`import { gsdBacklog } from "ralph/gsd"`',
    });
  });

  test("serves every subpath, with one copy of what two of them export", async () => {
    const names = Object.keys(deno.exports).filter((name) => name !== "./cli").map((name) =>
      name.replace(".", "ralph")
    );
    const result = await load(runtime, {
      "mine.ts": `${names.map((name, index) => `import * as m${index} from "${name}";`).join("\n")}
import { defineRecipe, memoryBacklog } from "ralph";
import { memoryBacklog as same } from "ralph/backlog";
const counts = [${names.map((_, index) => `Object.keys(m${index}).length`).join(", ")}];
export default defineRecipe({
  name: "mine",
  run: async () => ({ status: "passed", full: counts.every((count) => count > 0), same: memoryBacklog === same }),
});
`,
    });

    expect(result).toEqual({ status: "passed", full: true, same: true });
  });

  test("names the missing package and the file that imports it", async () => {
    const result = await load(runtime, {
      "mine.ts": 'import { left } from "no-such-package";\nexport default left;\n',
    });

    expect(result).toMatchObject({ code: "recipe-invalid", exitCode: 2 });
    expect((result as Error).message).toMatch(/^mine\.ts(?::1:22)?: cannot find the package no-such-package$/);
  });

  test("names a missing file", async () => {
    const result = await load(runtime, { "mine.ts": 'import { left } from "./nowhere.ts";\nexport default left;\n' });

    expect((result as Error).message).toMatch(/^mine\.ts(?::1:22)?: cannot find (?:\.\/)?nowhere\.ts$/);
  });

  test.each([
    ["export const a = 1;\n", "mine.ts: the file has no default export"],
    ["export default { name: 'x' };\n", "mine.ts: the default export is not a recipe: `run` must be a function"],
    [
      "export default function () {}\n",
      "mine.ts: the default export is not a recipe: a function is no recipe: give it to `defineRecipe()` as `run`",
    ],
  ])("refuses %j", async (text, message) => {
    const result = await load(runtime, { "mine.ts": text });

    expect(result).toMatchObject({ code: "recipe-invalid", exitCode: 2, message });
  });

  test("gives the line of what is thrown at the top level", async () => {
    const result = await load(runtime, { "mine.ts": 'const a: number = 1;\nthrow new TypeError("no " + a);\n' });

    expect(result).toMatchObject({ code: "recipe-failed", exitCode: 70 });
    expect((result as Error).message).toMatch(/^the recipe mine\.ts threw: TypeError: no 1\n {4}at mine\.ts:2:\d+$/);
  });

  test("gives the line of what run() throws", async () => {
    const result = await load(runtime, {
      "mine.ts": `import { defineRecipe } from "ralph";
export default defineRecipe({
  name: "mine",
  async run() {
    await Promise.resolve();
    throw new Error("in run");
  },
});
`,
    });

    expect(result).toMatchObject({ code: "recipe-failed", exitCode: 70 });
    expect((result as Error).message).toMatch(/^the recipe mine\.ts threw: Error: in run\n {4}at mine\.ts:6:\d+$/);
  });

  test("hands on a coded error as it is", async () => {
    const result = await load(runtime, {
      "mine.ts": `import { defineRecipe, RalphError } from "ralph";
export default defineRecipe({
  name: "mine",
  run: () => Promise.reject(new RalphError("root-missing", { details: { root: "/x" } })),
});
`,
    });

    expect(result).toMatchObject({ code: "root-missing", exitCode: 2, message: "the root /x does not exist" });
  });
});

describe("loadRecipe() in binary", () => {
  test("reads YAML, zod/mini and a helper without its ending", async () => {
    const result = await load("binary", {
      "mine.ts": `import { defineRecipe } from "ralph";
import * as z from "zod/mini";
import list from "./list.yaml";
import { one } from "./helper";
export default defineRecipe({
  name: "mine",
  run: () => Promise.resolve({ status: "passed", list, one, zod: typeof z.object }),
});
`,
      "list.yaml": "- a\n- b\n",
      "helper.ts": "export const one: number = 1;\n",
    });

    expect(result).toEqual({ status: "passed", list: ["a", "b"], one: 1, zod: "function" });
  });

  test("uses the zod of the recipe's folder where there is one", async () => {
    const result = await load("binary", {
      "mine.ts": `import { defineRecipe } from "ralph";
import { mine } from "zod";
export default defineRecipe({ name: "mine", run: () => Promise.resolve({ status: "passed", mine }) });
`,
      "node_modules/zod/package.json":
        '{ "name": "zod", "version": "9.9.9", "exports": { ".": "./main.js" }, "type": "module" }',
      "node_modules/zod/main.js": 'export const mine = "installed here";\n',
    });

    expect(result).toMatchObject({ mine: "installed here" });
  });

  test("does not read the .env nor the bunfig.toml of the folder", async () => {
    const result = await load("binary", {
      "mine.ts": `import { defineRecipe } from "ralph";
export default defineRecipe({
  name: "mine",
  run: () => Promise.resolve({ status: "passed", env: process.env["FROM_DOT_ENV"] ?? null, preload: globalThis["preloaded"] ?? null }),
});
`,
      ".env": "FROM_DOT_ENV=1\n",
      "bunfig.toml": 'preload = ["./preload.ts"]\n',
      "preload.ts": 'globalThis["preloaded"] = true;\n',
    });

    expect(result).toEqual({ status: "passed", env: null, preload: null });
  });
});
