/**
 * The layer rule of docs/architecture.md as a machine: imports point downward only, in no circle, effects stay at the
 * edge, and a workflow is named in its own room only.
 *
 *   bun tools/check_layers.ts [folder]
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import process from "node:process";

/** Rooms, low to high. A module may import from its own row and from the rows above it in this list. */
const LAYERS: readonly (readonly string[])[] = [
  ["std", "errors"],
  ["host"],
  ["config", "prompts", "generated"],
  ["git"],
  ["workspace"],
  ["backlog"],
  ["events"],
  ["steer"],
  ["sandbox", "measured"],
  ["context"],
  ["checks", "agents"],
  ["services", "hooks", "attest"],
  ["loop"],
  ["machines"],
  ["trackers"],
  ["recipe", "ui", "notify"],
  ["cli", "testing"],
  ["report"],
  ["watch"],
  ["web"],
  ["workflows"],
  ["mod"],
  ["recipes"],
  ["program"],
  ["bin"],
];

/** Files that may name a workflow outside its room. */
const MAY_NAME: readonly string[] = [
  "lib/workflows/table.ts",
  "lib/program/shipped_recipes.ts", // recipes by their names
  "lib/config/", // keys and values of ralph.config.json
  "lib/errors/", // the closed table of errors
  "lib/agents/", // the words of other programs
  "lib/host/", // the names of node
  "lib/workflows/gsd/plan_file.ts", // a tag of its files
];

const IMPORT_REGEXP = /^[ \t]*(?:import|export)\s+(?:type\s)?(?:[^;'"]*?\bfrom\s*)?["']([^"']+)["']/gm;
const IMPORT_CALL_REGEXP = /\bimport\(\s*["']([^"']+)["']\s*\)/g;
const CLOCK_REGEXP = /\bnew Date\(\s*\)/g;
const EFFECT_ROOMS = new Set(["std", "host", "testing"]);

interface Violation {
  readonly file: string;
  readonly line: number;
  readonly message: string;
}

/** A file as it is checked. */
interface Source {
  readonly file: string;
  readonly room: string;
  /** The folder of the workflow that it belongs to. */
  readonly workflow: string | null;
  /** Without comments, every offset as it was. */
  readonly code: string;
  readonly imports: readonly Import[];
}

interface Import {
  readonly line: number;
  readonly specifier: string;
  /** The file, relative to the root; `null` for a package. */
  readonly path: string | null;
}

function roomOf(path: string): string | null {
  const [top = "", second = "", third] = path.split("/");
  if (top === "recipes" || top === "bin") return top;
  if (top !== "lib") return null;
  return third === undefined ? "mod" : second; // files of lib itself are what packages export
}

function workflowOf(path: string): string | null {
  return /^lib\/workflows\/([^/]+)\//.exec(path)?.[1] ?? null;
}

function rank(room: string): number {
  return LAYERS.findIndex((row) => row.includes(room));
}

/** The files of `ralph` and its subpaths in this repository. */
function ownModules(root: string): Readonly<Record<string, string>> {
  const manifest = join(root, "deno.json");
  if (!existsSync(manifest)) return { "ralph": "lib/mod.ts", "ralph/testing": "lib/testing/mod.ts" };
  const { imports } = JSON.parse(readFileSync(manifest, "utf8")) as { readonly imports: Record<string, string> };
  return Object.fromEntries(
    Object.entries(imports).filter(([, path]) => path.startsWith("./")).map(([name, path]) => [name, path.slice(2)]),
  );
}

function lineAt(code: string, offset: number): number {
  return code.slice(0, offset).split("\n").length;
}

function readSource(root: string, file: string, modules: Readonly<Record<string, string>>): Source {
  const text = readFileSync(join(root, file), "utf8");
  // Comments are blanked, not cut, so that offsets stay: examples in JSDoc import from the top.
  const code = text.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, (comment) => comment.replaceAll(/[^\n]/g, " "));
  const imports = [...code.matchAll(IMPORT_REGEXP), ...code.matchAll(IMPORT_CALL_REGEXP)].map((match): Import => {
    const specifier = match[1] ?? "";
    const path = specifier.startsWith(".")
      ? relative(root, resolve(root, dirname(file), specifier)).replaceAll("\\", "/")
      : modules[specifier] ?? null;
    return { line: lineAt(code, match.index + match[0].search(/\S/)), specifier, path };
  });
  return { file, room: roomOf(file) ?? "", workflow: workflowOf(file), code, imports };
}

function layerViolations({ file, room, workflow, code, imports }: Source): readonly Violation[] {
  if (rank(room) < 0) return [{ file, line: 1, message: `${room} is in no layer: add it to tools/check_layers.ts` }];
  const found = imports.flatMap(({ line, specifier, path }): readonly Violation[] => {
    if (room === "recipes" && !/^ralph(?:\/[a-z-]+)?$/.test(specifier)) {
      return [{ file, line, message: "a recipe imports only `ralph` and its subpaths" }];
    }
    const to = path === null ? null : roomOf(path);
    if (path === null || to === null) return [];
    if (rank(to) < 0) return [{ file, line, message: `${path} is in no layer` }];
    if (rank(to) > rank(room)) return [{ file, line, message: `${room} must not import from ${to} (${path})` }];
    const other = workflowOf(path);
    return workflow === null || other === null || workflow === other
      ? []
      : [{ file, line, message: `the workflow ${workflow} must not import from ${other} (${path})` }];
  });
  if (EFFECT_ROOMS.has(room)) return found;
  const clocks = [...code.matchAll(CLOCK_REGEXP)].map(({ index }) => ({
    file,
    line: lineAt(code, index),
    message: "`new Date()` reads the clock: use the host's",
  }));
  return [...found, ...clocks];
}

/** Imports of a workflow's room, its name as a value or in a command, and identifiers that begin with it. */
function nameViolations(source: Source, workflows: readonly string[]): readonly Violation[] {
  const { file, room, workflow, code, imports } = source;
  if (room === "mod" || room === "recipes" || MAY_NAME.some((path) => file.startsWith(path))) return [];
  return workflows.filter((name) => name !== workflow).flatMap((name) => {
    const imported = imports.filter(({ path }) => path !== null && workflowOf(path) === name);
    const named = new RegExp(`(["'\`])${name}\\1|\\b(?:ralph|workflow) ${name}\\b|\\b${name}[A-Z]\\w*`, "g");
    return [
      ...imported.map(({ line, path }) => ({ file, line, message: `imports from the workflow ${name} (${path})` })),
      ...[...code.matchAll(named)].map(({ index, 0: text }) => ({
        file,
        line: lineAt(code, index),
        message: `names the workflow ${name} (${text})`,
      })),
    ];
  });
}

/** Circles of files, types and dynamic imports included: strongly connected components, by Tarjan. */
function circleViolations(all: readonly Source[]): readonly Violation[] {
  const byFile = new Map(all.map((source) => [source.file, source]));
  const order = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const circles: Violation[] = [];

  function visit(file: string): number {
    const own = order.size;
    order.set(file, own);
    low.set(file, own);
    stack.push(file);
    for (const { path } of byFile.get(file)?.imports ?? []) {
      if (path === null || !byFile.has(path)) continue;
      if (!order.has(path)) low.set(file, Math.min(low.get(file)!, visit(path)));
      else if (stack.includes(path)) low.set(file, Math.min(low.get(file)!, order.get(path)!));
    }
    if (low.get(file) === own) {
      const circle = stack.splice(stack.indexOf(file));
      if (circle.length > 1) circles.push({ file, line: 1, message: `circle of files: ${circle.join(" → ")}` });
    }
    return low.get(file)!;
  }

  for (const { file } of all) if (!order.has(file)) visit(file);
  return circles;
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
const modules = ownModules(root);
const files = ["lib", "recipes", "bin"].flatMap((folder) => sources(root, folder));
// what is generated holds texts, not code
const all = files.filter((file) => roomOf(file) !== "generated").map((file) => readSource(root, file, modules));
const workflows = [...new Set(all.flatMap(({ workflow }) => workflow ?? []))];
const violations = [
  ...all.flatMap(layerViolations),
  ...all.flatMap((source) => nameViolations(source, workflows)),
  ...circleViolations(all),
];
for (const { file, line, message } of violations) console.error(`${file}:${line}: ${message}`);
console.log(`${all.length} files, ${violations.length} against the layer rule`);
if (violations.length > 0 || all.length === 0) process.exitCode = 1;
