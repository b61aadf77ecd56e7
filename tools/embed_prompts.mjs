/**
 * Writes prompts/*.md into lib/generated/prompts.ts, which is what code imports: the binary has no files beside it.
 *
 *   node tools/embed_prompts.mjs [--check]
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = join(root, "prompts");
const target = join(root, "lib", "generated", "prompts.ts");

/** A template literal keeps the text readable in a diff. */
function literal(text) {
  return `\`${text.replaceAll("\\", "\\\\").replaceAll("`", "\\`").replaceAll("${", "\\${")}\``;
}

function source() {
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".md")).sort() : [];
  const entries = names.map((name) => {
    const text = readFileSync(join(folder, name), "utf8").replaceAll("\r\n", "\n");
    return `  ${JSON.stringify(name.slice(0, -".md".length))}: ${literal(text)},\n`;
  });
  return `// Written by tools/embed_prompts.mjs from prompts/*.md: edit those, then run it.
// deno-fmt-ignore-file

/** Every built-in prompt by its name. */
export const PROMPTS: Readonly<Record<string, string>> = {
${entries.join("")}};
`;
}

const wanted = source();
const found = existsSync(target) ? readFileSync(target, "utf8") : null;
if (found === wanted) {
  console.log("lib/generated/prompts.ts is up to date");
} else if (process.argv.includes("--check")) {
  console.error("lib/generated/prompts.ts is not what prompts/*.md say: run `node tools/embed_prompts.mjs`");
  process.exitCode = 1;
} else {
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, wanted);
  console.log("lib/generated/prompts.ts written");
}
