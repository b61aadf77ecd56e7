/**
 * Builds the npm package (dist/bin, dist/lib, dist/recipes, dist/man) and the binary (dist/ralph).
 *
 *   node tools/build.mjs [package] [binary] [--target linux-arm64,windows-x64,…]
 */
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { BINARY_FLAGS } from "./binary_flags.mjs";
import { BUNDLED_INTO } from "./bundled.mjs";
import { generate } from "./generate.mjs";
import { bunPath, mustRun, packageScript, ROOT, run, seconds } from "./runtimes.mjs";

const DIST = join(ROOT, "dist");
const TARGETS = [
  "linux-x64",
  "linux-arm64",
  "linux-x64-musl",
  "linux-arm64-musl",
  "darwin-x64",
  "darwin-arm64",
  "windows-x64",
];

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
      rewriteStandardImports(file, staging);
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

/** `@std/*` are workspaces of this repository: no other project could resolve them. */
function rewriteStandardImports(file, top) {
  const text = readFileSync(file, "utf8");
  const rewritten = text.replaceAll(/(["'])@std\/(cli|fs)\/([a-z-]+)\1/g, (_match, quote, name, module) => {
    const path = relative(dirname(file), join(top, "lib", "std", name, `${module.replaceAll("-", "_")}.js`))
      .replaceAll("\\", "/");
    return `${quote}${path.startsWith(".") ? path : `./${path}`}${quote}`;
  });
  if (rewritten !== text) writeFileSync(file, rewritten);
}

/** Bun leaves source maps beside the program (a copy is inside it): they and all else stay in a temporary folder. */
async function buildBinary(target) {
  const name = target === undefined ? "ralph" : `ralph-${target}`;
  const built = process.platform === "win32" && target === undefined || target?.startsWith("windows")
    ? `${name}.exe`
    : name;
  const folder = mkdtempSync(join(tmpdir(), "ralph-build-"));
  try {
    const flags = target === undefined ? BINARY_FLAGS : [...BINARY_FLAGS, `--target=bun-${target}`];
    await mustRun(bunPath(), ["build", "bin/ralph.ts", ...flags, `--outfile=${join(folder, built)}`], {
      capture: true,
    });
    mkdirSync(DIST, { recursive: true });
    // A copy beside and a rename: a ralph that is running keeps its file.
    const beside = join(DIST, `.${built}-${process.pid}`);
    copyFileSync(join(folder, built), beside);
    chmodSync(beside, 0o755);
    renameSync(beside, join(DIST, built));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return built;
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
