/**
 * Builds the npm package (dist/bin, dist/lib, dist/recipes, dist/man) and the binary (dist/ralph).
 *
 *   node tools/build.mjs [package] [binary] [--target linux-arm64,windows-x64,…]
 */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { BUNDLED_INTO } from "./bundled.mjs";
import { generate } from "./generate.mjs";
import { bunPath, mustRun, packageScript, ROOT, run, seconds, TARGETS } from "./runtimes.mjs";

const DIST = join(ROOT, "dist");

/** Built beside and put in place at the end: what is in use is whole at any moment. */
async function buildPackage() {
  const staging = join(DIST, `.staging-${process.pid}`);
  try {
    const flags = ["-p", "tsconfig.build.json", "--outDir", staging];
    const { code, output } = await run(process.execPath, [packageScript("typescript", "tsc"), ...flags], {
      capture: true,
    });
    if (code !== 0) throw new Error(`tsc found errors:\n${output}`);
    for (const file of walk(staging).filter((name) => /\.(?:js|d\.ts)$/.test(name))) {
      rewriteOwnImports(file, staging);
    }
    await bundle(staging);
    chmodSync(join(staging, "bin", "ralph.js"), 0o755);
    mkdirSync(join(staging, "man"));
    const page = await mustRun(process.execPath, [join(staging, "bin", "ralph.js"), "man"], { capture: true });
    writeFileSync(join(staging, "man", "ralph.1"), page);
    for (const folder of ["bin", "lib", "recipes", "man"]) {
      rmSync(join(DIST, folder), { recursive: true, force: true });
      renameSync(join(staging, folder), join(DIST, folder));
    }
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

/** One module gets what it imports: those packages are no dependencies. */
async function bundle(staging) {
  const file = join(staging, `${BUNDLED_INTO}.js`);
  const flags = ["--target=node", "--format=esm", "--minify", "--external", "zod", "--external", "zod/*"];
  await mustRun(bunPath(), ["build", join(ROOT, `${BUNDLED_INTO}.ts`), ...flags, `--outfile=${file}`], {
    capture: true,
  });
  writeFileSync(file.replace(/\.js$/, ".d.ts"), "export {};\n"); // no type of it is public
}

/** `@std/*` are workspaces of this repository, and `ralph` is what recipes call the package: both become paths. */
function rewriteOwnImports(file, top) {
  const text = readFileSync(file, "utf8");
  const path = (target) => {
    const found = relative(dirname(file), join(top, target)).replaceAll("\\", "/");
    return `"${found.startsWith(".") ? found : `./${found}`}"`;
  };
  const rewritten = text
    .replaceAll(
      /"@std\/(cli|fs)\/([a-z-]+)"/g,
      (_all, name, module) => path(`lib/std/${name}/${module.replaceAll("-", "_")}.js`),
    )
    .replaceAll(/(?<= from )"ralph(\/[a-z]+)?"(?=;$)/gm, (_all, sub = "") => path(ownModule(sub)));
  if (rewritten !== text) writeFileSync(file, rewritten);
}

function ownModule(subpath) {
  const { exports } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  return exports[`.${subpath}`].default.replace("./dist/", "");
}

async function buildBinary(target) {
  const windows = target?.startsWith("windows") ?? process.platform === "win32";
  const name = `ralph${target === undefined ? "" : `-${target}`}${windows ? ".exe" : ""}`;
  mkdirSync(DIST, { recursive: true });
  const args = target === undefined ? [] : ["--target", `bun-${target}`];
  await mustRun(bunPath(), ["tools/compile.mjs", "bin/ralph.ts", join(DIST, name), ...args], { capture: true });
  return name;
}

function walk(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? walk(path) : [path];
  });
}

function readArguments(list) {
  const at = list.findIndex((word) => word === "--target" || word.startsWith("--target="));
  const value = at < 0 ? "" : list[at].split("=")[1] ?? list[at + 1] ?? "";
  const used = at < 0 ? [] : list[at].includes("=") ? [at] : [at, at + 1];
  const targets = value.split(",").filter((name) => name !== "");
  const parts = list.filter((_word, index) => !used.includes(index));
  if (at >= 0 && targets.length === 0) throw new Error(`--target needs a value: ${TARGETS.join(", ")}`);
  const wrong = [
    ...targets.filter((target) => !TARGETS.includes(target)).map((target) =>
      `${target} (targets: ${TARGETS.join(", ")})`
    ),
    ...parts.filter((part) => part !== "package" && part !== "binary").map((part) =>
      `${part} (parts: package, binary)`
    ),
  ];
  if (wrong.length > 0) throw new Error(`unknown: ${wrong.join("; ")}`);
  return { targets, parts: parts.length > 0 ? parts : targets.length > 0 ? ["binary"] : ["package", "binary"] };
}

async function main() {
  const { targets, parts } = readArguments(process.argv.slice(2));
  await generate();
  if (parts.includes("package")) {
    const started = performance.now();
    await buildPackage();
    console.log(`dist/bin, dist/lib, dist/recipes, dist/man: the npm package (${seconds(started)})`);
  }
  if (!parts.includes("binary")) return;
  for (const target of targets.length > 0 ? targets : [undefined]) {
    const started = performance.now();
    console.log(`dist/${await buildBinary(target)}: the binary (${seconds(started)})`);
  }
}

try {
  await main();
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
