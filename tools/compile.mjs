/**
 * Compiles a program as the binary is compiled; tests and measurements make theirs the same way. Bun runs it.
 *
 *   bun tools/compile.mjs SOURCE OUTPUT [--target NAME] [--bun PATH]
 *
 * `--target` is a name of Bun's, such as `bun-linux-arm64`, and `--bun` that build of Bun.
 */
import { chmodSync, copyFileSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { BUNDLED_INTO } from "./bundled.mjs";

const ROOT = dirname(import.meta.dirname);
/**
 * Large, and used by few runs: without bytecode and compressed they take a tenth of the room. They are unpacked in memory
 * when they are first imported, those of a line together.
 */
const PACKED = [
  ["playwright-core"],
  ["pg-boss"],
  ["hono", "hono/body-limit", "hono/http-exception", "hono/streaming", "@hono/node-server"],
  ["smol-toml"],
  ["yaml"],
  ["marked"],
  ["@clack/prompts"],
  ["@modelcontextprotocol/server", "@modelcontextprotocol/server/stdio"],
  [`./${BUNDLED_INTO}.ts`],
  ["./lib/host/sandbox_proxy.ts"],
  ["./lib/generated/types.ts"],
  ["install", "completions", "report_style", "recipes", "skill", "demo", "queries"].map((name) =>
    `./lib/generated/${name}.ts`
  ),
  ["./lib/generated/page.ts"],
  ["./lib/generated/prompts.ts", "./lib/generated/templates.ts"],
];

const DAX = Bun.resolveSync("dax", ROOT);

/** The texts of modules that take the place of these, by path, and the `files` that they import them from. */
async function pack(folder, files) {
  const texts = {};
  for (const [at, names] of PACKED.entries()) {
    const paths = names.map((name) => Bun.resolveSync(name, ROOT));
    const entry = join(folder, `${at}.ts`);
    await Bun.write(entry, paths.map((path, of) => `export * as m${of} from ${JSON.stringify(path)};\n`).join(""));
    const { outputs: [whole] } = await Bun.build({
      entrypoints: [entry],
      target: "bun",
      format: "esm",
      minify: true,
      define: { "import.meta.url": "MODULE_URL" },
    });
    // Bun writes down where a module is; the same commit makes the same bytes in any folder.
    const text = (await whole.text()).replaceAll(JSON.stringify(`${ROOT}/`).slice(0, -1), '"/');
    files[`${at}.zst`] = Bun.zstdCompressSync(text, { level: 22 });
    for (const [of, path] of paths.entries()) texts[path] = unpacking(at, of, Object.keys(await import(path)));
  }
  return texts;
}

function unpacking(at, of, names) {
  const kept = names.filter((name) => name !== "default");
  return `import { unpack } from ${JSON.stringify(join(import.meta.dirname, "unpack.mjs"))};
import file from "packed:${at}.zst" with { type: "file" };
const { m${of} } = await unpack(file, import.meta.url);
export const { ${kept.join(", ")} } = m${of};
${names.includes("default") ? `export default m${of}.default;` : ""}`;
}

/** Two modules of WebAssembly in dax, which each run imports and few runs use: a Proxy takes their place until then. */
const WASM_REGEXP =
  /var (bytes\d*) = \w+\("([^"]+)"\);\nvar (\w+) = new WebAssembly\.Module\(\1\);\nvar (\w+) = new WebAssembly\.Instance\(\3, (\{[^}]+\})\);\n(\w+)\(\4\.exports\);\n\4\.exports\.__wbindgen_start\(\);/g;

/** The one user of them while dax is imported. */
const CONTAINER = "#container = new StaticTextContainer();";

/** The text of dax in which WebAssembly is unpacked and compiled when a function of it is first called. */
async function lazyDax(path, files) {
  const text = await Bun.file(path).text();
  const { length } = text.match(WASM_REGEXP) ?? [];
  if (length !== 2 || !text.includes(CONTAINER)) throw new Error(`${path} is not as expected: see lazyDax()`);
  const imported = [];
  const lazy = text.replace(CONTAINER, "#made; get #container() { return this.#made ??= new StaticTextContainer(); }")
    .replaceAll(WASM_REGEXP, (_all, _bytes, base64, _module, _instance, imports, use) => {
      const name = `packed${imported.length}`;
      files[`${name}.zst`] = Bun.zstdCompressSync(Buffer.from(base64, "base64"), { level: 22 });
      imported.push(`import ${name} from "packed:${name}.zst" with { type: "file" };\n`);
      return `${use}(new Proxy({}, { get(_none, name) {
  const bytes = Bun.zstdDecompressSync(process.getBuiltinModule("node:fs").readFileSync(${name}));
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes), ${imports});
  ${use}(exports);
  exports.__wbindgen_start();
  return exports[name];
} }));`;
    });
  return imported.join("") + lazy;
}

/** Its messages in 50 languages are more than half of zod; Ralph's are English. */
const LOCALES_REGEXP = /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/;

/** @returns {import("bun").BunPlugin} */
function packing(texts, files) {
  const paths = Object.keys(texts).map((path) => RegExp.escape(path)).join("|");
  return {
    name: "packing",
    setup(build) {
      build.onResolve(
        { filter: /^packed:/ },
        ({ path }) => ({ path: path.slice("packed:".length), namespace: "packed" }),
      );
      build.onLoad({ filter: /./, namespace: "packed" }, ({ path }) => ({ loader: "file", contents: files[path] }));
      build.onLoad({ filter: new RegExp(`^(?:${paths})$`) }, ({ path }) => ({ loader: "js", contents: texts[path] }));
      build.onLoad({ filter: LOCALES_REGEXP }, () => ({
        loader: "js",
        contents: 'export { default as en } from "./en.js";',
      }));
    },
  };
}

/**
 * Without `splitting` the whole bundle is loaded at start; without `autoloadPackageJson` the packages of a user's project
 * are not found; with the other two the user's `.env` and bunfig preload would run in Ralph. `jitPolicy`: less than a
 * second of work is not worth compiling; a long stream sets it back (child_output).
 */
async function compile(source, output, { target, bun }) {
  const folder = mkdtempSync(join(tmpdir(), "ralph-compile-"));
  try {
    const files = {};
    const texts = { ...await pack(folder, files), [DAX]: await lazyDax(DAX, files) };
    const outfile = join(folder, basename(output));
    await Bun.build({
      entrypoints: [source],
      compile: {
        ...(target === undefined ? {} : { target }),
        ...(bun === undefined ? {} : { executablePath: bun }),
        outfile,
        autoloadDotenv: false,
        autoloadBunfig: false,
        autoloadPackageJson: true,
        jitPolicy: 8,
      },
      bytecode: true,
      format: "esm",
      minify: true,
      splitting: true,
      plugins: [packing(texts, files)],
    });
    // A copy beside and a rename: a program that is running keeps its file.
    const beside = `${output}.${process.pid}`;
    copyFileSync(outfile, beside);
    chmodSync(beside, 0o755);
    renameSync(beside, output);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const { values, positionals: [source, output] } = parseArgs({
  allowPositionals: true,
  options: { target: { type: "string" }, bun: { type: "string" } },
});
await compile(source, output, values);
