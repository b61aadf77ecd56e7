import { posix } from "node:path";
import { isMakefile, manifestsOf, scriptsRun } from "./scripts.ts";

/** They start the program that follows. */
const WRAPPERS: ReadonlySet<string> = new Set(
  "bunx command env exec nice nohup npx pnpx stdbuf sudo time timeout xargs xvfb-run then else do if while !".split(
    " ",
  ),
);

/** They judge what they are given by a pipe. */
const JUDGES: ReadonlySet<string> = new Set("cmp diff egrep fgrep grep jq rg test yq".split(" "));

const TOKEN_REGEXP =
  /"((?:\\.|[^"\\])*)"|'([^']*)'|(\$\(|\|\||&&|[;&|(){}\n`])|(?:^|(?<=\s))#[^\n]*|((?:\$(?!\()|[^\s;&|(){}`"'$])+)/g;

/** The files of a commit, by their path from the root. */
export interface FileTree {
  has(path: string): boolean;
  isFolder(path: string): boolean;
  read(path: string): Promise<string | null>;
}

/** What checks run. */
export interface Reached {
  /** Files that they run, scripts of scripts included. */
  readonly files: ReadonlySet<string>;
  /** Folders that they name. */
  readonly folders: ReadonlySet<string>;
  /** Programs that they start, without a path. */
  readonly programs: ReadonlySet<string>;
}

/** How deep files are followed. */
const DEPTH = 3;
/** Files longer than that are data. */
const LONGEST_SCRIPT = 256 * 1024;
/** They look at their operands, which are what is checked, and run none of them. */
const READERS: ReadonlySet<string> = new Set(
  ("[ [[ test awk black cat cc clang clang++ cloc cp curl cut dprint du echo egrep eslint fgrep file find g++ gcc " +
    "gofmt grep gzip head install javac jq ls mkdir mv mypy git openssl oxlint prettier printf pyright " +
    "readlink rg rm ruff rustc rustfmt sed sha1sum sha256sum shellcheck sort stat tail tar touch tsc uniq unzip wc yq")
    .split(" "),
);
/** Endings that a runner adds to what it is given. */
const ENDINGS: readonly string[] = ["", ".js", ".mjs", ".cjs", ".ts", ".mts", ".py", ".sh", ".rb"];

/** Files that commands run: words that are paths, those of the scripts and targets they run, and of those files again. */
export async function reachedBy(commands: readonly string[], tree: FileTree): Promise<Reached> {
  const files = new Set<string>();
  const folders = new Set<string>();
  const programs = new Set<string>();
  const seen = new Set<string>();

  async function follow(text: string, folder: string, depth: number): Promise<void> {
    if (seen.has(`${folder}\0${text}`)) return;
    seen.add(`${folder}\0${text}`);
    const parsed = simpleCommands(text);
    const bases = basesOf(parsed, folder, tree);
    for (const command of parsed) {
      if (!command.program.includes("/")) programs.add(command.program);
      if (command.observed || READERS.has(command.program)) continue;
      for (const base of bases) {
        for (const word of [command.program, ...command.words]) {
          const path = pathOf(word, base, tree);
          if (path === null) continue;
          if (tree.has(path)) await enter(path, depth);
          else folders.add(path);
        }
        await runManifests(command, base, depth);
      }
    }
  }

  async function enter(path: string, depth: number): Promise<void> {
    if (files.has(path)) return;
    files.add(path);
    if (depth >= DEPTH) return;
    const text = await tree.read(path);
    if (text === null || text.length > LONGEST_SCRIPT || isMakefile(path) || !isShell(path, text)) return;
    await follow(text, ".", depth + 1);
    if (posix.dirname(path) !== ".") await follow(text, posix.dirname(path), depth + 1);
  }

  async function runManifests({ program, words }: SimpleCommand, base: string, depth: number): Promise<void> {
    const name = manifestsOf(program).find((one) => tree.has(posix.join(base, one)));
    if (name === undefined) return;
    const path = posix.join(base, name);
    const text = await tree.read(path) ?? "";
    const scripts = scriptsRun(path, text, words);
    if (scripts.length === 0) return;
    files.add(path);
    if (depth >= DEPTH) return;
    for (const script of scripts) await follow(script, base, depth + 1);
  }

  for (const command of commands) await follow(command, ".", 0);
  return { files, folders, programs };
}

/** The folder itself, and those that a `cd`, `-C` or `--prefix` may lead to. */
function basesOf(commands: readonly SimpleCommand[], folder: string, tree: FileTree): readonly string[] {
  const named = commands.flatMap(({ words }) => words).map((word) => pathOf(word, folder, tree));
  return [...new Set([folder, ...named.filter((path) => path !== null && !tree.has(path))])].filter((path) =>
    path !== null
  );
}

/** The existing file or folder that a word names: `./a`, `--flag=a`, `a::case`, `a:12`, `pkg.module`; or `null`. */
function pathOf(word: string, base: string, tree: FileTree): string | null {
  const bare = word.replace(/^-[^=]*=/, "").replace(/::.*$|:\d+$/, "");
  if (bare === "" || bare.startsWith("-") || bare.startsWith("/")) return null;
  const path = posix.join(base, bare).replace(/\/$/, "");
  if (path === "." || path.startsWith("..")) return null;
  for (const ending of ENDINGS) if (tree.has(path + ending)) return path + ending;
  const module = /^[\w.]+$/.test(bare) ? posix.join(base, `${bare.replaceAll(".", "/")}.py`) : null;
  if (module !== null && tree.has(module)) return module;
  return tree.isFolder(path) ? path : null;
}

/** Only what is itself a list of commands is followed: imports of a program are not. */
function isShell(path: string, text: string): boolean {
  if (/\.(?:sh|bash|zsh|bats|mk|cmd|bat|ps1)$/.test(path)) return true;
  return /^#!.*\b(?:sh|bash|dash|zsh|ksh|make)\b/.test(text) || !/\.\w+$/.test(path);
}

/** One program with its operands, as a shell would start it. */
interface SimpleCommand {
  /** Without assignments and wrappers such as `env` and `npx`. */
  readonly program: string;
  /** All that comes after it. */
  readonly words: readonly string[];
  /** Its output is compared or searched: `test "$(…)" = 5`, `… | grep -q`. It is what is checked. */
  readonly observed: boolean;
}

/** The simple commands of a shell text, those in `sh -c "…"` and `$(…)` included. Pure. */
function simpleCommands(text: string): readonly SimpleCommand[] {
  const commands: SimpleCommand[] = [];
  const open: string[] = [];
  let piped: SimpleCommand[] = [];
  let words: string[] = [];
  let glued = "";
  let end = -1;
  const closeWord = (): void => {
    if (glued !== "") words.push(glued);
    glued = "";
  };
  const close = (separator: string): void => {
    closeWord();
    const command = commandOf(words, open.includes("$("));
    words = [];
    if (command === null) return;
    if (JUDGES.has(command.program)) piped = piped.map((one) => ({ ...one, observed: true }));
    piped.push(command);
    if (separator === "|") return;
    commands.push(...piped);
    piped = [];
  };
  for (const match of text.replaceAll("\\\n", " ").matchAll(TOKEN_REGEXP)) {
    const [whole, double, single, separator, bare] = match;
    if (separator !== undefined) {
      close(separator);
      if (separator === ")" || (separator === "`" && open.at(-1) === "$(")) open.pop();
      else if (separator === "(" || separator === "$(" || separator === "`") open.push(separator === "(" ? "(" : "$(");
      continue;
    }
    if (match.index !== end) closeWord();
    end = match.index + whole.length;
    const quoted = double?.replaceAll(/\\(.)/g, "$1") ?? single;
    if (quoted !== undefined && /\s/.test(quoted)) commands.push(...simpleCommands(quoted));
    glued += quoted ?? bare ?? "";
  }
  close("\n");
  commands.push(...piped);
  return commands;
}

function commandOf(words: readonly string[], observed: boolean): SimpleCommand | null {
  const at = words.findIndex((word) => !WRAPPERS.has(word) && !/^(?:\w+=|-|\d+[smh]?$)/.test(word));
  const program = words[at];
  return program === undefined ? null : { program, words: words.slice(at + 1), observed };
}
