import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { readText } from "../../lib/host/files.ts";
import deno from "../../deno.json" with { type: "json" };
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

test("every public function has an example", async () => {
  const entries = Object.values(deno.exports).filter((path) => path.startsWith("./lib/"));
  const without: string[] = [];
  for (const entry of entries) {
    const text = await readText(join(ROOT, entry)) ?? "";
    for (const [, list = "", from = ""] of text.matchAll(/^export \{([^}]*)\} from "([^"]+)"/gm)) {
      const source = await readText(join(ROOT, dirname(entry), from)) ?? "";
      for (const name of list.split(",").map((part) => part.trim()).filter((part) => /^[a-z]\w*$/.test(part))) {
        const declared = new RegExp(`/\\*\\*((?:(?!\\*/)[^])*)\\*/\\nexport (?:async )?function ${name}\\b`).exec(
          source,
        );
        if (declared === null || !declared[1]?.includes("@example")) without.push(name);
      }
    }
  }

  expect(without).toEqual([]);
});
