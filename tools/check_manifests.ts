/** Holds package.json, deno.json, the workspaces, the lock file and the version in the code equal where they say the same thing. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { BUNDLED } from "./bundled.mjs";

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly imports: Readonly<Record<string, string>>;
  readonly workspaces: readonly string[];
}

interface TypeScriptConfiguration {
  readonly compilerOptions: { readonly paths: Readonly<Record<string, readonly string[]>> };
}

const root = join(import.meta.dirname, "..");
const problems: string[] = [];

function text(path: string): string {
  return readFileSync(join(root, path), "utf8");
}

function manifest(path: string): Manifest {
  return JSON.parse(text(path)) as Manifest;
}

function equal(what: string, left: unknown, right: unknown): void {
  if (JSON.stringify(left) === JSON.stringify(right)) return;
  problems.push(`${what}: ${JSON.stringify(left)} and ${JSON.stringify(right)} differ`);
}

/** `^1`, `^1.2`: the only form that a range for a workspace has here. */
function satisfies(version: string, range: string): boolean {
  const wanted = /^\^(\d+)(?:\.(\d+))?/.exec(range);
  const [major, minor] = version.split(".").map(Number);
  return wanted !== null && Number(wanted[1]) === major && Number(wanted[2] ?? 0) <= (minor ?? 0);
}

const npm = manifest("package.json");
const deno = manifest("deno.json");

equal("version in package.json and deno.json", npm.version, deno.version);
equal("license in package.json and deno.json", npm.license, deno.license);
equal(
  "version in package.json and lib/host/version.ts",
  npm.version,
  /"(\d[^"]*)"/.exec(text("lib/host/version.ts"))?.[1],
);

// Dependencies: every one that Ralph has at run time, with the same range, in both.
const ranges = Object.fromEntries(
  Object.entries(deno.imports).filter(([, value]) => value.startsWith("npm:")).map((
    [name, value],
  ) => [name, value.slice(`npm:${name}@`.length)]),
);
const bundled = Object.fromEntries(BUNDLED.map((name) => [name, npm.devDependencies[name]]));
equal(
  "dependencies in package.json and imports in deno.json",
  Object.entries({ ...npm.dependencies, ...bundled }).sort(),
  Object.entries(ranges).sort(),
);

// Exports: `./dist/lib/mod.js` is built from `./lib/mod.ts`.
const published = Object.entries(npm.exports).filter(([name]) => name !== "./package.json").map((
  [name, value],
) => [name, (typeof value === "string" ? value : value.default).replace("./dist/", "./").replace(/\.js$/, ".ts")]);
const sources = Object.entries(deno.exports).filter(([name]) => name !== "./cli");
equal("exports in package.json and deno.json", published, sources);
for (const [name, path] of Object.entries(deno.exports)) {
  if (!existsSync(join(root, path as string))) problems.push(`exports ${name}: ${String(path)} does not exist`);
}
const { paths } = (JSON.parse(text("tsconfig.json")) as TypeScriptConfiguration).compilerOptions;
const served = text("lib/program/own_modules.ts");
for (const [name, path] of sources) {
  const specifier = name.replace(/^\./, "ralph");
  equal(`import map of deno.json and exports, ${name}`, deno.imports[specifier], path);
  equal(`paths of tsconfig.json and exports, ${name}`, paths[specifier], [path]);
  const module = (path as string).replace("./lib/", "../");
  const row = `"${specifier}": { url: url("${module.replace(/\.ts$/, "")}"), load: () => import("${module}") }`;
  if (!served.includes(row)) problems.push(`lib/program/own_modules.ts does not serve ${specifier}: ${row}`);
}

// Workspaces stand in for JSR packages: a version outside the range makes Deno fetch the real one.
for (const folder of npm.workspaces) {
  const member = manifest(`${folder}/package.json`);
  const twin = manifest(`${folder}/deno.json`);
  for (const field of ["name", "version", "exports"] as const) equal(`${folder}: ${field}`, member[field], twin[field]);
  const range = (deno.imports[member.name] ?? "").slice(`jsr:${member.name}@`.length);
  if (!satisfies(member.version, range)) {
    problems.push(`${folder}: ${member.version} does not satisfy ${member.name}@${range}`);
  }
  if (npm.dependencies[member.name] !== undefined) {
    problems.push(`${member.name} must not be a dependency: it is not on npm`);
  }
  for (const path of Object.values(member.exports)) {
    if (!existsSync(join(root, folder, path as string))) problems.push(`${folder}: ${String(path)} does not exist`);
  }
}

for (const problem of problems) console.error(problem);
console.log(`manifests: ${problems.length === 0 ? "equal" : `${problems.length} differences`}`);
if (problems.length > 0) process.exitCode = 1;
