/**
 * Writes the declarations of `ralph` and `ralph/testing` into lib/generated/types.ts, for `ralph types`: the binary
 * has no files beside it. One `declare module` a file of lib that the two entries reach.
 *
 *   node tools/embed_types.mjs [--check]
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, posix } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { mustRun, packageScript, ROOT } from "./runtimes.mjs";

const target = join(ROOT, "lib", "generated", "types.ts");
/** The names that recipes import, and the files behind them. */
const ENTRIES = { "ralph": "mod.d.ts", "ralph/testing": "testing/mod.d.ts" };
/** dax's own types where it is installed; where it is not, what most commands need, so that nothing else becomes `any`. */
const DAX = `declare module "ralph:dax" {
  import type { $Type as InstalledType, CommandBuilder as InstalledBuilder } from "dax";
  type Installed<Type, Otherwise> = [0] extends [1 & Type] ? Otherwise : Type;
  interface BundledCommand extends PromiseLike<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
    text(): Promise<string>;
    lines(): Promise<string[]>;
    json<Value = unknown>(): Promise<Value>;
    [more: string]: any;
  }
  interface BundledShell {
    (strings: TemplateStringsArray, ...values: readonly unknown[]): BundledCommand;
    [more: string]: any;
  }
  export type CommandBuilder = Installed<InstalledBuilder, BundledCommand>;
  export type $Type = Installed<InstalledType, BundledShell>;
}
`;
const SPECIFIER_REGEXP = /(\bfrom |\bimport\()(["'])(\.[^"']+)\2/g;

async function emit(folder) {
  const flags = ["-p", "tsconfig.build.json", "--emitDeclarationOnly", "--outDir", folder];
  await mustRun(process.execPath, [packageScript("typescript", "tsc"), ...flags], { capture: true });
  return join(folder, "lib");
}

function pathOf(from, specifier) {
  return posix.join(dirname(from), specifier).replace(/\.(?:ts|js)$/, ".d.ts");
}

/** Every file that the entries reach, in the order in which they are reached. */
function reach(folder) {
  const texts = new Map();
  const visit = (file) => {
    if (texts.has(file)) return;
    const text = readFileSync(join(folder, file), "utf8").replaceAll("\r\n", "\n");
    texts.set(file, text);
    for (const [, , , specifier] of text.matchAll(SPECIFIER_REGEXP)) visit(pathOf(file, specifier));
  };
  for (const file of Object.values(ENTRIES)) visit(file);
  return texts;
}

/** An ambient module may not name another by a relative path: each file has a name that nobody else can have. */
function nameOf(file) {
  const entry = Object.entries(ENTRIES).find(([, path]) => path === file);
  return entry === undefined ? `ralph:${file.slice(0, -".d.ts".length)}` : entry[0];
}

function moduleOf(file, text) {
  const body = text
    .replaceAll(
      SPECIFIER_REGEXP,
      (_match, before, quote, path) => `${before}${quote}${nameOf(pathOf(file, path))}${quote}`,
    )
    .replaceAll('from "dax"', 'from "ralph:dax"')
    .replaceAll(/^(export )?declare /gm, "$1")
    .trimEnd();
  return `declare module ${JSON.stringify(nameOf(file))} {\n${body.replaceAll(/^(?=.)/gm, "  ")}\n}\n`;
}

async function wantedText() {
  const folder = mkdtempSync(join(tmpdir(), "ralph-types-"));
  try {
    const modules = [...reach(await emit(folder))].map(([file, text]) => moduleOf(file, text));
    return [...modules, DAX].join("\n");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Packed: nobody reads or edits the declarations here, and a hundred times the same lines would stand in the sources. */
function moduleText(declarations) {
  return `// Written by tools/embed_types.mjs from lib/mod.ts and lib/testing/mod.ts: run it when they change.
// deno-fmt-ignore-file

/** The declarations of \`ralph\` and \`ralph/testing\`: gzip, base64. */
export const PACKED_TYPES: string =
  "${gzipSync(declarations, { level: 9 }).toString("base64")}";
`;
}

/** What the checked-in file holds: compared unpacked, since each zlib packs in its own way. */
function foundText() {
  const packed = /"([\w+/=]+)";/.exec(readFileSync(target, "utf8"))?.[1] ?? "";
  return packed === "" ? "" : gunzipSync(Buffer.from(packed, "base64")).toString("utf8");
}

const isCheck = process.argv.includes("--check");
// A file that cannot be read, after a merge say, would keep the declarations from being made.
if (!isCheck && foundText() === "") writeFileSync(target, moduleText(""));
const wanted = await wantedText();
if (foundText() !== wanted) {
  if (isCheck) {
    console.error("lib/generated/types.ts is not what lib/mod.ts says: run `node tools/embed_types.mjs`");
    process.exitCode = 1;
  } else {
    writeFileSync(target, moduleText(wanted));
  }
}
