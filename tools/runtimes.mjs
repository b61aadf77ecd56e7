/** The paths of the pinned runtimes, and how the tools start a program. */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
/** The systems that the binary is built for, as Bun names them. */
export const TARGETS = [
  "linux-x64",
  "linux-arm64",
  "linux-x64-musl",
  "linux-arm64-musl",
  "darwin-x64",
  "darwin-arm64",
  "windows-x64",
];
const windows = process.platform === "win32";
const modules = join(ROOT, "node_modules");

/** npm may be told not to run install scripts: then the shims are empty, and are filled here from the platform packages. */
function filled(name, program, installScript) {
  if (!existsSync(join(modules, name))) throw new Error(`${name} is not installed: run \`npm ci\` first`);
  const real = () => existsSync(program) && statSync(program).size > 1_000_000;
  if (!real()) spawnSync(process.execPath, [installScript], { cwd: dirname(installScript), stdio: "inherit" });
  if (!real()) throw new Error(`${program} could not be made: \`node ${installScript}\` says why`);
  return program;
}

export function bunPath() {
  return filled("bun", join(modules, "bun", "bin", "bun.exe"), join(modules, "bun", "install.js"));
}

export function denoPath() {
  return filled("deno", join(modules, "deno", windows ? "deno.exe" : "deno"), join(modules, "deno", "install.cjs"));
}

/** The script behind a package's command, to be run by a runtime of choice. */
export function packageScript(name, command = name) {
  const manifest = join(modules, name, "package.json");
  if (!existsSync(manifest)) throw new Error(`${name} is not installed: run \`npm ci\` first`);
  const { bin } = createRequire(import.meta.url)(manifest);
  return join(dirname(manifest), typeof bin === "string" ? bin : bin[command]);
}

/** The environment of every child: the pinned runtimes first on PATH, and nothing that would change how they start. */
export function environment(extra = {}) {
  const { BUN_OPTIONS: _options, BUN_BE_BUN: _be, ...rest } = process.env;
  return { ...rest, PATH: `${join(modules, ".bin")}${windows ? ";" : ":"}${rest.PATH ?? ""}`, NO_COLOR: "1", ...extra };
}

/** Runs a program to its end, or until the signal. `capture` collects both streams; otherwise they are shown as they come. */
export function run(file, args, { cwd = ROOT, env, capture = false, signal } = {}) {
  return new Promise((resolve) => {
    const child = spawn(file, args, {
      cwd,
      env: env ?? environment(),
      stdio: capture ? ["ignore", "pipe", "pipe"] : ["ignore", "inherit", "inherit"],
      signal,
    });
    let output = "";
    child.stdout?.on("data", (chunk) => output += chunk);
    child.stderr?.on("data", (chunk) => output += chunk);
    child.on("error", (error) => resolve({ code: 127, output: `${output}${error.message}\n` }));
    child.on("close", (code, by) => resolve({ code: code ?? `ended by ${by}`, output }));
  });
}

/** Runs a program and throws, with what it printed, unless it ends with 0. */
export async function mustRun(file, args, options = {}) {
  const { code, output } = await run(file, args, options);
  if (code !== 0) throw new Error(`${[file, ...args].join(" ")}: exit ${code}\n${output}`);
  return output;
}

export function seconds(since) {
  return `${((performance.now() - since) / 1000).toFixed(1)} s`;
}
