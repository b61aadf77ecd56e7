/**
 * Writes recipes/*.ts into lib/generated/recipes.ts, for `ralph eject`: the binary has no files beside it.
 *
 *   node tools/embed_recipes.mjs [--check]
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = join(root, "recipes");
const target = join(root, "lib", "generated", "recipes.ts");

function literal(text) {
  return `\`${text.replaceAll("\\", "\\\\").replaceAll("`", "\\`").replaceAll("${", "\\${")}\``;
}

const names = readdirSync(folder).filter((name) => name.endsWith(".ts")).sort();
const entries = names.map((name) => {
  const text = readFileSync(join(folder, name), "utf8").replaceAll("\r\n", "\n");
  return `  ${JSON.stringify(name.slice(0, -".ts".length))}: ${literal(text)},\n`;
});
const wanted = `// Written by tools/embed_recipes.mjs from recipes/*.ts: edit those, then run it.
// deno-fmt-ignore-file

/** The text of every built-in recipe by its name. */
export const RECIPE_TEXTS: Readonly<Record<string, string>> = {
${entries.join("")}};
`;

if (process.argv.includes("--check")) {
  if (readFileSync(target, "utf8") !== wanted) {
    console.error("lib/generated/recipes.ts is not what recipes/*.ts say: run `node tools/embed_recipes.mjs`");
    process.exitCode = 1;
  }
} else {
  writeFileSync(target, wanted);
}
