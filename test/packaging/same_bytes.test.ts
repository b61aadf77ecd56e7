/** The sums of a release can be checked by whoever builds it again. */
import { createHash } from "node:crypto";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { bunPath, ROOT } from "../../tools/runtimes.mjs";
import { finish } from "./runtimes.ts";

const PARTS = ["bin", "lib", "node_modules", "package.json", "prompts", "recipes", "tools", "tsconfig.json"];

/** The sum of a binary that is built in a checkout. */
async function built(root: string, output: string): Promise<string> {
  const { code, stderr } = await finish([bunPath(), "tools/compile.mjs"], ["bin/ralph.ts", output], root);
  expect(code, stderr).toBe(0);
  return createHash("sha256").update(readFileSync(output)).digest("hex");
}

test("a binary has the same bytes in whatever folder it is built", async () => {
  mkdirSync(join(ROOT, "dist"), { recursive: true });
  const other = mkdtempSync(join(ROOT, "dist/other-")); // beside the packages: they are linked, not copied
  onTestFinished(() => rmSync(other, { recursive: true, force: true }));
  expect(spawnSync("cp", ["-al", ...PARTS.map((name) => join(ROOT, name)), other]).status).toBe(0);

  expect(await built(other, join(other, "ralph"))).toBe(await built(ROOT, join(other, "ralph")));
});
