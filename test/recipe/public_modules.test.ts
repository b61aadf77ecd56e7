import { join } from "node:path";
import { expect, test } from "vitest";
import { readText } from "../../lib/host/files.ts";
import { ROOT } from "../../tools/runtimes.mjs";

test("the root of the SDK is small: at most 70 names, each written down", async () => {
  const text = (await readText(join(ROOT, "lib", "mod.ts")) ?? "").replaceAll(/\/\*[^]*?\*\//g, "");
  const names = [...text.matchAll(/\{([^}]*)\}/g)].flatMap(([, list = ""]) => list.split(",")).filter((name) =>
    name.trim()
  );

  expect(text).not.toContain("*");
  expect(names.length).toBeGreaterThan(50);
  expect(names.length).toBeLessThanOrEqual(70);
});
