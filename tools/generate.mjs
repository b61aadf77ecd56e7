/**
 * Writes lib/generated: the types of schemas, the prompts, the recipes' texts, texts in other languages (styles, scripts,
 * completions, pages), and the declarations of the public modules. The code imports them because the binary has no files
 * beside it. `npm ci`, builds and tests run it; git does not hold the result.
 *
 *   node tools/generate.mjs
 */
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, posix } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { brotliCompressSync } from "node:zlib";
import { bunPath, mustRun, packageScript, ROOT } from "./runtimes.mjs";

const FOLDER = join(ROOT, "lib", "generated");
const HEADER = "// Written by tools/generate.mjs.\n// deno-fmt-ignore-file\n";
/** The public modules: the names that recipes import, and the files in lib behind them. */
const ENTRIES = Object.fromEntries(
  Object.entries(JSON.parse(read("deno.json")).exports).filter(([name]) => name !== "./cli").map(([name, path]) => [
    name.replace(/^\./, "ralph"),
    path.replace("./lib/", "").replace(/\.ts$/, ".d.ts"),
  ]),
);
/** dax's own types where it is installed; where it is not, what most commands need, so that nothing else becomes `any`. */
const DAX = `declare module "ralph:dax" {
  import type { $Type as InstalledType, CommandBuilder as InstalledBuilder, CommandResult as InstalledResult } from "dax";
  type Installed<Type, Otherwise> = [0] extends [1 & Type] ? Otherwise : Type;
  interface BundledResult {
    readonly code: number;
    readonly stdout: string;
    readonly stdoutBytes: Uint8Array;
    readonly stderr: string;
  }
  interface BundledCommand extends PromiseLike<BundledResult> {
    text(): Promise<string>;
    lines(): Promise<string[]>;
    json<Value = unknown>(): Promise<Value>;
    [more: string]: any;
  }
  interface BundledShell {
    (strings: TemplateStringsArray, ...values: readonly unknown[]): BundledCommand;
    [more: string]: any;
  }
  export type CommandResult = Installed<InstalledResult, BundledResult>;
  export type CommandBuilder = Installed<InstalledBuilder, BundledCommand>;
  export type $Type = Installed<InstalledType, BundledShell>;
}
`;
const SPECIFIER_REGEXP = /(\bfrom |\bimport\()(["'])(\.[^"']+)\2/g;

function read(path) {
  return readFileSync(join(ROOT, path), "utf8").replaceAll("\r\n", "\n");
}

/** A rename at the end: several tools may generate at the same time, and each sees whole files. */
function write(name, text) {
  const target = join(FOLDER, name);
  mkdirSync(FOLDER, { recursive: true });
  const beside = join(FOLDER, `.${name}-${process.pid}`);
  writeFileSync(beside, text);
  renameSync(beside, target);
}

function literal(text) {
  return `\`${text.replaceAll("\\", "\\\\").replaceAll("`", "\\`").replaceAll("${", "\\${")}\``;
}

/** One constant: the texts of a folder's files by their names. */
function texts(folder, ending, constant, comment) {
  const names = readdirSync(join(ROOT, folder)).filter((name) => name.endsWith(ending)).sort();
  const entries = names.map((name) =>
    `  ${JSON.stringify(name.slice(0, -ending.length))}: ${literal(read(`${folder}/${name}`))},\n`
  );
  return `${HEADER}
/** ${comment} */
export const ${constant}: Readonly<Record<string, string>> = {
${entries.join("")}};
`;
}

/** Texts in other languages than TypeScript, by the module that holds them: each constant, and the files that it is made of. */
export const EMBEDDED = {
  "completions.ts": {
    BASH: ["lib/program/completions/ralph.bash"],
    ZSH: ["lib/program/completions/ralph.zsh"],
    FISH: ["lib/program/completions/ralph.fish"],
    POWERSHELL: ["lib/program/completions/ralph.ps1"],
  },
  "demo.ts": {
    DEMO_README: ["lib/workflows/exec/demo/README.md"],
    DEMO_TESTS: ["lib/workflows/exec/demo/test.sh"],
  },
  "install.ts": { INSTALL_TEXT: ["docs/install.md"] },
  "page.ts": { PAGE_STYLE: ["lib/report/base.css", "lib/web/page.css"], PAGE_SCRIPT: ["lib/web/page.js"] },
  "queries.ts": {
    GITHUB_ISSUES: ["lib/trackers/github/issue.graphql", "lib/trackers/github/issues.graphql"],
    GITHUB_ISSUE: ["lib/trackers/github/issue.graphql", "lib/trackers/github/one.graphql"],
    GITHUB_COMMENTS: ["lib/trackers/github/comments.graphql"],
    LINEAR_FIELDS: ["lib/trackers/linear/fields.graphql"],
    LINEAR_ISSUES: ["lib/trackers/linear/issues.graphql"],
    LINEAR_ISSUE: ["lib/trackers/linear/one.graphql"],
    LINEAR_NEWER: ["lib/trackers/linear/newer.graphql"],
    LINEAR_COMMENTS: ["lib/trackers/linear/comments.graphql"],
    LINEAR_STATES: ["lib/trackers/linear/states.graphql"],
    LINEAR_COMMENT: ["lib/trackers/linear/comment.graphql"],
    LINEAR_CHANGE: ["lib/trackers/linear/change.graphql"],
    LINEAR_MOVE: ["lib/trackers/linear/move.graphql"],
  },
  "report_style.ts": { REPORT_STYLE: ["lib/report/base.css", "lib/report/report.css"] },
  "skill.ts": { SKILL_TEXT: ["lib/program/skill.md"] },
  "templates.ts": {
    CODEBASE_MAP: ["lib/workflows/exec/codebase_map.md"],
    FIRST_SPRINT: ["lib/workflows/sprint/first_sprint.yaml"],
    PROGRESS_LOG: ["lib/workflows/exec/progress.md"],
  },
};

function constants(parts) {
  const lines = Object.entries(parts).map(([constant, files]) =>
    `/** ${files.join(" and ")}. */\nexport const ${constant}: string = ${literal(files.map(read).join("\n"))};\n`
  );
  return `${HEADER}\n${lines.join("\n")}`;
}

/** The declarations of lib, unchecked: they can be written while the code still has errors. */
async function emit(folder) {
  const flags = ["-p", "tsconfig.build.json", "--noCheck", "--emitDeclarationOnly", "--outDir", folder];
  await mustRun(process.execPath, [packageScript("typescript", "tsc"), ...flags], { capture: true });
  return join(folder, "lib");
}

function pathOf(from, specifier) {
  return posix.join(dirname(from), specifier).replace(/\.(?:ts|js)$/, ".d.ts");
}

/** Every file that the entries reach, in the order in which they are reached. */
function reach(folder) {
  const found = new Map();
  const visit = (file) => {
    if (found.has(file)) return;
    const text = readFileSync(join(folder, file), "utf8").replaceAll("\r\n", "\n");
    found.set(file, text);
    for (const [, , , specifier] of text.matchAll(SPECIFIER_REGEXP)) visit(pathOf(file, specifier));
  };
  for (const file of Object.values(ENTRIES)) visit(file);
  return found;
}

/** An ambient module may not name another by a relative path: each file gets a name of its own. */
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

async function declarations() {
  const folder = mkdtempSync(join(tmpdir(), "ralph-types-"));
  try {
    const modules = [...reach(await emit(folder))].map(([file, text]) => moduleOf(file, text));
    return [...modules, DAX].join("\n");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function modifiedAt(path) {
  return statSync(join(ROOT, path), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** True when a source is newer than the generated file. A folder is newer when a file in it was added or deleted. */
function isStale(name, sources) {
  return Math.max(...sources.map(modifiedAt)) > modifiedAt(`lib/generated/${name}`);
}

function filesOf(folder) {
  return [folder, ...readdirSync(join(ROOT, folder), { recursive: true }).map((name) => `${folder}/${name}`)];
}

/** Writes what is missing or older than its sources. */
export async function generate() {
  const tool = "tools/generate.mjs";
  if (isStale("prompts.ts", [...filesOf("prompts"), tool])) {
    write("prompts.ts", texts("prompts", ".md", "PROMPTS", "Every built-in prompt by its name."));
  }
  if (isStale("recipes.ts", [...filesOf("recipes"), tool])) {
    write("recipes.ts", texts("recipes", ".ts", "RECIPE_TEXTS", "The text of every built-in recipe by its name."));
  }
  for (const [name, parts] of Object.entries(EMBEDDED)) {
    if (isStale(name, [...Object.values(parts).flat(), tool])) write(name, constants(parts));
  }
  const schemas = ["attest", "config", "events", "plan", "report", "steer", "trackers"];
  const declare = "tools/declare.ts";
  const schemaFiles = [
    ...filesOf("lib/config"),
    ...["attest", "events", "report", "steer", "trackers", "workflows/exec/plan"].map((room) =>
      `lib/${room}/schema.ts`
    ),
    declare,
    tool,
  ];
  if (schemas.some((name) => isStale(`${name}.ts`, schemaFiles))) {
    const written = JSON.parse(await mustRun(bunPath(), [declare], { capture: true }));
    for (const [name, text] of Object.entries(written)) write(`${name}.ts`, text);
  }
  const sources = filesOf("lib").filter((name) => name !== "lib" && !/^lib.generated/.test(name));
  if (!isStale("types.ts", [...sources, "deno.json", "tsconfig.json", "tsconfig.build.json", tool])) return;
  const packed = brotliCompressSync(await declarations()).toString("base64");
  write(
    "types.ts",
    `${HEADER}
/** The declarations of the public modules: brotli, base64. */
export const PACKED_TYPES: string =
  "${packed}";
`,
  );
}

/** Vitest's name for what runs once before all tests. */
export { generate as setup };

if (process.argv[1] === fileURLToPath(import.meta.url)) await generate();
