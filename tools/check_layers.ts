/**
 * The layer rule of docs/architecture.md as a machine: imports point downward only, effects stay at the edge.
 *
 *   bun tools/check_layers.ts [folder]
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import process from "node:process";

/** Low to high. A module may import from its own row and from the rows above it in this list. */
const LAYERS: readonly (readonly string[])[] = [
  ["std"],
  ["host"],
  ["errors", "events", "prompts", "config"],
  ["loop", "backlogs", "agents", "verifiers", "services", "git", "ui"],
  ["context", "create_ralph", "steps"],
  ["recipes"],
  ["cli"],
  ["mod", "testing"],
];

/** Files and folders (by the start of the path) that may reach higher, and what. */
const EXCEPTIONS: Readonly<Record<string, readonly string[]>> = {
  // The modules that the binary serves to recipes; imported when a recipe asks for them.
  "lib/recipe/bundled_modules.ts": ["mod", "testing"],
  // What a host function throws is a coded error; the table of codes imports nothing.
  "lib/host/": ["errors"],
};

/** Types alone may be read across from the context: it names what every step is handed. */
const TYPE_ONLY: Readonly<Record<string, readonly string[]>> = {
  loop: ["context"],
  backlogs: ["context"],
  agents: ["context"],
  verifiers: ["context"],
  services: ["context"],
  ui: ["context"],
  // Events carry the loop's own records.
  events: ["loop"],
};

const IMPORT_REGEXP =
  /^[ \t]*(import|export)\s+(type\s)?(?:[^;'"]*?\bfrom\s*)?["']([^"']+)["']|\bimport\(\s*["']([^"']+)["']\s*\)/gm;
const CLOCK_REGEXP = /\bnew Date\(\s*\)/g;
const EFFECT_LAYERS = new Set(["std", "host", "testing"]);

interface Violation {
  readonly file: string;
  readonly line: number;
  readonly message: string;
}

function layerOf(path: string): string | null {
  const [top, second] = path.split("/");
  if (top === "recipes") return "recipes";
  if (top !== "lib" || second === undefined) return null;
  return second.replace(/\.ts$/, "");
}

function rank(layer: string): number {
  return LAYERS.findIndex((row) => row.includes(layer));
}

function allowed(file: string, from: string, to: string, typeOnly: boolean): boolean {
  if (rank(to) <= rank(from)) return true;
  if (typeOnly && TYPE_ONLY[from]?.includes(to) === true) return true;
  return Object.entries(EXCEPTIONS).some(([prefix, layers]) => file.startsWith(prefix) && layers.includes(to));
}

function target(root: string, file: string, specifier: string): string | null {
  if (specifier === "ralph") return "lib/mod.ts";
  if (specifier === "ralph/testing") return "lib/testing/mod.ts";
  if (!specifier.startsWith(".")) return null;
  return relative(root, resolve(root, dirname(file), specifier)).replaceAll("\\", "/");
}

function check(root: string, file: string): readonly Violation[] {
  const from = layerOf(file);
  if (from === null) return [];
  if (rank(from) < 0) return [{ file, line: 1, message: `${from} is in no layer: add it to tools/check_layers.ts` }];
  const text = readFileSync(join(root, file), "utf8");
  // Comments are blanked, not cut, so that offsets stay: examples in JSDoc import from the top.
  const code = text.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, (comment) => comment.replaceAll(/[^\n]/g, " "));
  const lineAt = (offset: number) => code.slice(0, offset).split("\n").length;
  const found: Violation[] = [];
  for (const match of code.matchAll(IMPORT_REGEXP)) {
    const line = lineAt(match.index + match[0].search(/\S/));
    const path = target(root, file, match[3] ?? match[4] ?? "");
    if (from === "recipes") {
      if (!/^ralph(?:\/|$)/.test(match[3] ?? "")) {
        found.push({ file, line, message: `a recipe imports only "ralph" and its subpaths` });
      }
      continue;
    }
    const to = path === null ? null : layerOf(path);
    if (path === null || to === null) continue;
    if (rank(to) < 0) found.push({ file, line, message: `${path} is in no layer` });
    else if (!allowed(file, from, to, match[2] !== undefined)) {
      found.push({ file, line, message: `${from} must not import from ${to} (${path})` });
    }
  }
  if (!EFFECT_LAYERS.has(from)) {
    for (const match of code.matchAll(CLOCK_REGEXP)) {
      found.push({ file, line: lineAt(match.index), message: "`new Date()` reads the clock: use the host's" });
    }
  }
  return found;
}

function sources(root: string, folder: string): readonly string[] {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return sources(root, path);
    return entry.name.endsWith(".ts") ? [path] : [];
  });
}

const root = resolve(process.argv[2] ?? join(import.meta.dirname, ".."));
const files = [...sources(root, "lib"), ...sources(root, "recipes")];
const violations = files.flatMap((file) => check(root, file));
for (const { file, line, message } of violations) console.error(`${file}:${line}: ${message}`);
console.log(`${files.length} files, ${violations.length} against the layer rule`);
if (violations.length > 0 || files.length === 0) process.exitCode = 1;
