import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { ralphCli } from "./cli.ts";

const REPOSITORY = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const TSC = join(REPOSITORY, "node_modules/typescript/bin/tsc");
/** The one that `ralph help types` shows. */
const TSCONFIG = JSON.stringify({
  compilerOptions: {
    target: "es2023",
    lib: ["esnext", "dom"],
    module: "esnext",
    moduleResolution: "bundler",
    strict: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    skipLibCheck: true,
    types: [],
  },
  include: ["*.ts"],
});
const RECIPE = readFileSync(join(REPOSITORY, "recipes/todo.ts"), "utf8");
/** Each line from the seventh on is wrong. */
const WRONG = `import { memoryBacklog, runLoop, verify } from "ralph";
import { testContext } from "ralph/testing";
import { gsdBacklog } from "ralph/gsd";
import { one } from "./helper.ts";
await using ralph = await testContext({ agent: { turns: [] } });
await verify(ralph, [one, ralph.$\`ls\`, ($, { cwd }) => $\`ls \${cwd}\`, async ($) => await $\`ls\`, { name: "b", command: "c" }]);
const status: number = (await runLoop(ralph, memoryBacklog([{ id: "a", title: "b" }]))).status;
await runLoop(ralph, memoryBacklog([{ id: "a", title: "b" }]), { maxIteration: 3 });
await verify(ralph, [3]);
await verify(ralph, [parseInt]);
gsdBacklog(ralph, 3);
const root: number = ralph.root;
`;

function check(root: string, ...args: string[]): string {
  const { stdout } = spawnSync(process.execPath.includes("node") ? process.execPath : "node", [TSC, ...args], {
    cwd: root,
    encoding: "utf8",
  });
  return stdout;
}

describe("ralph types", () => {
  test("a recipe beside them type-checks with nothing installed, and what is wrong in one is found", async () => {
    const { root, stderr } = await ralphCli()
      .files({
        "ralph.recipe.ts": RECIPE,
        "wrong.ts": WRONG,
        "helper.ts": 'export const one = "a";\n',
        "tsconfig.json": TSCONFIG,
      })
      .args("types", "--output", "ralph.d.ts").expectExit(0);

    const found = check(root, "-p", ".");

    expect(stderr).toMatch(/^wrote ralph\.d\.ts\n/);
    expect(found.match(/^\S+\(\d+/gm)).toEqual([7, 8, 9, 10, 11, 12].map((line) => `wrong.ts(${line}`));
    expect(found).toContain("Did you mean to write 'maxIterations'?");
  });

  test("dax's own types are used where dax is installed", async () => {
    const { root } = await ralphCli()
      .files({
        "tsconfig.json": TSCONFIG,
        "a.ts":
          `import type { RalphContext } from "ralph";\nexport const no = (ralph: RalphContext) => ralph.$.noSuchThing;\n`,
      })
      .args("types", "--output", "ralph.d.ts").expectExit(0);

    const before = check(root, "-p", ".");
    mkdirSync(join(root, "node_modules"));
    symlinkSync(join(REPOSITORY, "node_modules/dax"), join(root, "node_modules/dax"));

    expect(before).toBe("");
    expect(check(root, "-p", ".")).toContain("'noSuchThing' does not exist");
  });

  test("a reference in the recipe's first line is enough, without a tsconfig", async () => {
    const { root } = await ralphCli()
      .files({ "ralph.recipe.mts": `/// <reference path="./ralph.d.ts" />\n${RECIPE}` })
      .args("types", "--output", "ralph.d.ts").expectExit(0);

    const flags = ["--noEmit", "--strict", "--skipLibCheck", "--target", "es2023", "--lib", "esnext,dom"];

    expect(check(root, ...flags, "--module", "nodenext", "ralph.recipe.mts")).toBe("");
  });

  test("without a file it prints them", async () => {
    const { stdout, stderr } = await ralphCli().args("types").expectExit(0);

    expect(stderr).toBe("");
    expect(stdout).toMatch(
      /^\/\/ The declarations of `ralph`[^]*\ndeclare module "ralph" \{\n[^]*\ndeclare module "ralph\/gsd" \{\n[^]*\ndeclare module "ralph\/testing" \{\n/,
    );
  });
});
