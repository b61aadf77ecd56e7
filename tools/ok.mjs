/**
 * Every gate, the fast ones first. All of them run; what failed is shown at the end.
 *
 *   node tools/ok.mjs [GATE…]
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { generate } from "./generate.mjs";
import { bunPath, denoPath, mustRun, packageScript, ROOT, run, seconds } from "./runtimes.mjs";
import { outdatedPages } from "./reference.mjs";
import { runShellExamples } from "./shell_examples.mjs";

const node = process.execPath;
const deno = denoPath();
const tool = (name, ...args) => ["bun " + name, bunPath(), [join("tools", name), ...args]];
const script = (name, command, ...args) => [name, node, [packageScript(name, command), ...args]];

async function trackedFiles() {
  const listed = await mustRun("git", ["ls-files", "-z"], { capture: true });
  return listed.split("\0").filter((path) => path !== "" && existsSync(join(ROOT, path)));
}

/** Whatever names this machine: folders, host name, and the package registry that it asks. */
async function machineNames() {
  const registry = new URL(
    (await mustRun("npm", ["config", "get", "registry", "--silent"], { capture: true })).trim().split("\n").at(-1),
  ).host;
  const parent = dirname(ROOT);
  const names = [ROOT, process.env.HOME ?? "", parent === "/" || parent === tmpdir() ? "" : `${parent}/`];
  // A short name, such as `linux` or `dev`, is a word of the language too.
  if (hostname().length > 8) names.push(hostname());
  if (registry.includes(".")) names.push(registry);
  return names.filter((name) => name.length > 5);
}

/** The place of a name that is no part of a longer path: a ref `refs/ralph/part/1` does not name a folder `/part/`. */
function whereNamed(text, name) {
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    if (!/[\w.}*-]/.test(text[at - 1] ?? "")) return at;
  }
  return -1;
}

async function noMachineNames() {
  const names = await machineNames();
  const found = [];
  for (const path of await trackedFiles()) {
    const text = readFileSync(join(ROOT, path), "latin1");
    for (const name of names) {
      const at = whereNamed(text, name);
      if (at >= 0) found.push(`${path}:${text.slice(0, at).split("\n").length}: names this machine (${name})`);
    }
  }
  return { code: found.length === 0 ? 0 : 1, output: found.join("\n") };
}

function lockWithoutHosts() {
  const { packages } = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8"));
  const found = Object.entries(packages).filter(([, { resolved }]) => resolved?.includes("://")).map(([name]) => name);
  return { code: found.length === 0 ? 0 : 1, output: found.length === 0 ? "" : `"resolved" URLs: ${found.join(", ")}` };
}

const ENGINES_HINT =
  "hint: if the suite passes on the oldest Node of package.json, take `engines` of these packages out of package-lock.json";

/**
 * A fresh machine does this, with install scripts off: the lock must be complete, the runtimes must start, and a part
 * that needs the generated files must say how to make them.
 */
async function freshInstall() {
  const folder = mkdtempSync(join(tmpdir(), "ralph-clone-"));
  const start =
    `import { bunPath, denoPath, mustRun } from "./tools/runtimes.mjs"; for (const file of [bunPath(), denoPath()]) await mustRun(file, ["--version"]);`;
  try {
    await mustRun("git", ["clone", "-q", "--no-local", ROOT, folder], { capture: true });
    const installed = await mustRun("npm", ["ci", "--ignore-scripts"], { cwd: folder, capture: true });
    if (installed.includes("EBADENGINE")) return { code: 1, output: `${installed}\n${ENGINES_HINT}` };
    await mustRun(node, ["--input-type=module", "-e", start], { cwd: folder, capture: true });
    for (const [file, args] of [[bunPath(), []], [deno, ["run", "-A"]]]) {
      const { code, output } = await run(file, [...args, "bin/ralph.ts", "types"], { cwd: folder, capture: true });
      if (code !== 2 || !output.includes("tools/generate.mjs")) return { code: 1, output };
    }
    await mustRun(node, ["tools/generate.mjs"], { cwd: folder, capture: true });
    return { code: 0, output: await mustRun(bunPath(), ["bin/ralph.ts", "types"], { cwd: folder, capture: true }) };
  } catch (error) {
    return { code: 1, output: error.message };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** `deno test --doc` takes only what looks like a test from a folder: every file with an example is named. */
async function runExamples() {
  const files = (await trackedFiles()).filter((path) =>
    /^lib\/.*\.ts$/.test(path) || /^(?:docs\/.*|README)\.md$/.test(path)
  );
  const withExamples = files.filter((path) =>
    /^[ *]*```(?:ts|js|tsx)\s*$/m.test(readFileSync(join(ROOT, path), "utf8"))
  );
  if (withExamples.length === 0) return { code: 1, output: "no example was found" };
  return await run(deno, ["test", "-A", "--doc", "--quiet", ...withExamples], { capture: true });
}

async function runDocsInShell() {
  return await runShellExamples((await trackedFiles()).filter((path) => /^(?:docs\/.*|README)\.md$/.test(path)));
}

async function upToDateReference() {
  const pages = await outdatedPages();
  const output = pages.map((page) => `${page} is out of date: \`node tools/reference.mjs\` writes it`).join("\n");
  return { code: pages.length === 0 ? 0 : 1, output };
}

/** Each: a name, then commands (label, file, arguments) or a function. */
const GATES = {
  fmt: [["deno fmt", deno, ["fmt", "--check", "--quiet"]]],
  lint: [script("oxlint", "oxlint", "--type-aware", "--deny-warnings"), ["deno lint", deno, ["lint", "--quiet"]]],
  layers: [tool("check_layers.ts")],
  manifests: [tool("check_manifests.ts")],
  new: [["node check_new.mjs", node, ["tools/check_new.mjs"]]],
  lock: [lockWithoutHosts],
  machine: [noMachineNames],
  reference: [upToDateReference],
  pages: [tool("check_docs.ts")],
  types: [script("typescript", "tsc", "--noEmit"), script("typescript", "tsc", "--noEmit", "-p", "tsconfig.test.json")],
  "types-deno": [[
    "deno check",
    deno,
    ["check", "lib", "bin", "recipes"].filter((path) => existsSync(join(ROOT, path)) || path === "check"),
  ]],
  install: [freshInstall],
  docs: [runExamples, runDocsInShell],
  jsr: [["deno publish --dry-run", deno, ["publish", "--dry-run", "--allow-dirty", "--quiet"]]],
  package: [
    ["build package", node, ["tools/build.mjs", "package"]],
    script("publint", "publint", "--strict"),
    script("@arethetypeswrong/cli", "attw", "--pack", ".", "--profile", "esm-only"),
  ],
  test: [["npm test", node, ["tools/test.mjs"]]],
};

async function runGate(steps) {
  for (const step of steps) {
    const { code, output } = typeof step === "function" ? await step() : await run(step[1], step[2], { capture: true });
    if (code !== 0) return { label: typeof step === "function" ? "" : `${step[0]}: exit ${code}\n`, output };
    if (output.includes("vitest: ")) process.stdout.write(`${output.trimEnd().split("\n").at(-1)}\n`);
  }
  return null;
}

async function main(chosen) {
  const unknown = chosen.filter((name) => !(name in GATES));
  if (unknown.length > 0) {
    console.error(`unknown: ${unknown.join(", ")}\n\nhint: gates are ${Object.keys(GATES).join(", ")}`);
    process.exitCode = 2;
    return;
  }
  const failures = [];
  const started = performance.now();
  await generate();
  for (const [name, steps] of Object.entries(GATES).filter(([name]) => chosen.length === 0 || chosen.includes(name))) {
    const since = performance.now();
    const failure = await runGate(steps);
    if (failure !== null) failures.push([name, failure]);
    console.log(`${failure === null ? "ok    " : "FAILED"} ${name} (${seconds(since)})`);
  }
  for (const [name, { label, output }] of failures) console.log(`\n--- ${name}\n${label}${output.trimEnd()}`);
  const verdict = failures.length === 0 ? "every gate passed" : `failed: ${failures.map(([name]) => name).join(", ")}`;
  console.log(`\n${verdict} (${seconds(started)})`);
  process.exitCode = failures.length === 0 ? 0 : 1;
}

await main(process.argv.slice(2));
