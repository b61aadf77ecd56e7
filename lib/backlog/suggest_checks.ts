import { join } from "node:path";
import { pathExists, readText } from "../host/files.ts";

/** A command that a project's own files name for checking it. Only ever suggested, never run unasked. */
export interface SuggestedCheck {
  readonly command: string;
  /** The file that names it. */
  readonly from: string;
}

const NAMES = ["test", "check", "typecheck", "type-check", "types", "lint"];
const LOCK_FILES: readonly (readonly [file: string, run: string])[] = [
  ["pnpm-lock.yaml", "pnpm run"],
  ["yarn.lock", "yarn run"],
  ["bun.lock", "bun run"],
  ["bun.lockb", "bun run"],
];
/** Files whose mere presence names a command. */
const BY_PRESENCE: readonly (readonly [file: string, command: string])[] = [
  ["go.mod", "go test ./..."],
  ["Cargo.toml", "cargo test"],
  ["mix.exs", "mix test"],
  ["pom.xml", "mvn -q test"],
  ["gradlew", "./gradlew test"],
  ["test.sh", "sh test.sh"],
  ["test/run.sh", "sh test/run.sh"],
];

/**
 * Commands found in the project's files: package.json scripts, deno.json tasks, Makefile, justfile, pyproject.toml,
 * go.mod, Cargo.toml and the like, tests first in each.
 *
 * @param root absolute path
 */
export async function suggestChecks(root: string): Promise<readonly SuggestedCheck[]> {
  const found = [
    await fromPackageJson(root),
    await fromDenoJson(root),
    await fromTargets(root, ["Makefile", "makefile", "GNUmakefile"], "make"),
    await fromTargets(root, ["justfile", "Justfile", ".justfile"], "just"),
    await fromPyproject(root),
    await fromPresence(root),
  ].flat();
  return found.filter((check, index) => found.findIndex((other) => other.command === check.command) === index);
}

async function fromPackageJson(root: string): Promise<readonly SuggestedCheck[]> {
  const scripts = await keysOf(root, "package.json", "scripts");
  const lock = await firstAsync(LOCK_FILES, ([file]) => pathExists(join(root, file)));
  const run = lock?.[1] ?? "npm run";
  return scripts
    .filter(([, script]) => !script.includes("no test specified"))
    .map(([name]) => ({
      command: run === "npm run" && name === "test" ? "npm test" : `${run} ${name}`,
      from: "package.json",
    }));
}

async function fromDenoJson(root: string): Promise<readonly SuggestedCheck[]> {
  const tasks = await keysOf(root, "deno.json", "tasks");
  return tasks.map(([name]) => ({ command: `deno task ${name}`, from: "deno.json" }));
}

/** The entries of an object in a JSON file whose names mean a check; a file that cannot be read has none. */
async function keysOf(root: string, file: string, key: string): Promise<readonly (readonly [string, string])[]> {
  const text = await readText(join(root, file));
  if (text === null) return [];
  const data = tryJson(text);
  const block = typeof data === "object" && data !== null ? (data as Record<string, unknown>)[key] : null;
  if (typeof block !== "object" || block === null) return [];
  return NAMES.flatMap((name) =>
    Object.hasOwn(block, name) ? [[name, String((block as Record<string, unknown>)[name])]] : []
  );
}

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null; // a file that is not Ralph's: what it holds is only a suggestion
  }
}

async function fromTargets(root: string, files: readonly string[], tool: string): Promise<readonly SuggestedCheck[]> {
  const from = await firstAsync(files, (file) => pathExists(join(root, file)));
  const text = from === undefined ? null : await readText(join(root, from));
  if (from === undefined || text === null) return [];
  const targets = new Set([...text.matchAll(/^([\w-]+)(?:[ \t]+[^:\n]*)?:(?!=)/gm)].map((match) => match[1]));
  return NAMES.filter((name) => targets.has(name)).map((name) => ({ command: `${tool} ${name}`, from }));
}

async function fromPyproject(root: string): Promise<readonly SuggestedCheck[]> {
  const from = "pyproject.toml";
  const text = await readText(join(root, from));
  if (text === null) return [];
  const run = await pathExists(join(root, "uv.lock")) ? "uv run " : "";
  const tools = [["pytest", "pytest"], ["mypy", "mypy ."], ["pyright", "pyright"], ["ruff", "ruff check ."]] as const;
  return tools.filter(([name]) => text.includes(name)).map(([, command]) => ({ command: `${run}${command}`, from }));
}

async function fromPresence(root: string): Promise<readonly SuggestedCheck[]> {
  const found: SuggestedCheck[] = [];
  for (const [from, command] of BY_PRESENCE) {
    if (await pathExists(join(root, from))) found.push({ command, from });
  }
  return found;
}

async function firstAsync<Value>(
  values: readonly Value[],
  test: (value: Value) => Promise<boolean>,
): Promise<Value | undefined> {
  for (const value of values) if (await test(value)) return value;
  return undefined;
}
