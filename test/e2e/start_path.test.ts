import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
/** The argument parser, and how wide a text is in a terminal. */
const LIGHT = ["deno-std", "fast-string-width", "fast-string-truncated-width"];

/** A copy of the sources beside which only these packages are installed: whatever else a command loads is not found. */
function runWith(
  packages: readonly string[],
  args: readonly string[],
  file = "bin/ralph.ts",
): { readonly status: number | null; readonly output: string } {
  const folder = mkdtempSync(join(tmpdir(), "ralph-start-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const name of ["lib", "bin", "recipes", "tsconfig.json"]) {
    cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  }
  mkdirSync(join(folder, "node_modules", "@std"), { recursive: true });
  for (const name of ["cli", "fs"]) {
    symlinkSync(join(folder, "lib", "std", name), join(folder, "node_modules", "@std", name));
  }
  for (const name of packages) symlinkSync(join(ROOT, "node_modules", name), join(folder, "node_modules", name));
  mkdirSync(join(folder, "project", "scripts", "ralph"), { recursive: true });
  const story = { id: "US-001", title: "t", acceptanceCriteria: [], priority: 1, passes: false, notes: "" };
  writeFileSync(
    join(folder, "project", "scripts", "ralph", "prd.json"),
    JSON.stringify({ branchName: "main", userStories: [story] }),
  );
  const bun = join(ROOT, "node_modules/bun/bin/bun.exe");
  const { status, stdout, stderr } = spawnSync(bun, ["--no-install", join(folder, file), ...args], {
    cwd: join(folder, "project"),
    encoding: "utf8",
  });
  return { status, output: stdout + stderr };
}

describe("the start path", () => {
  test.each([["--version"], ["--help"], ["help", "exec"], ["run", "--help"]])(
    "ralph %j loads no package but the argument parser and the width of text",
    (...args) => {
      const ran = runWith(LIGHT, args);
      expect(ran, ran.output).toMatchObject({ status: 0 });
    },
  );

  test.each([
    ["status"],
    ["next"],
    ["validate"],
    ["query"],
    ["types"],
    ["schema", "report"],
  ])(
    "ralph %j loads neither dax nor clack nor yaml",
    (...args) => {
      const ran = runWith([...LIGHT, "zod", "picomatch"], args);
      expect(ran, ran.output).toMatchObject({ status: 0 });
    },
  );

  test("a verdict is attested without its schema", () => {
    const ran = runWith(LIGHT, [], "lib/attest/attest.ts");
    expect(ran, ran.output).toMatchObject({ status: 0 });
  });

  test("the trap works: what needs dax fails without it", () => {
    expect(runWith([...LIGHT, "zod", "picomatch"], ["verify"]).output).toContain("dax");
  });
});
