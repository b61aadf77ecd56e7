import { posix } from "node:path";
import picomatch from "picomatch";
import { codeIn, isChecked, looksAround, namesIn, takesCode } from "./inline_code.ts";
import { isProduct } from "./mentioned.ts";
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
  paths(): Iterable<string>;
  /** Where a symbolic link leads, as it is written; `null` for what is none. */
  linkAt(path: string): Promise<string | null>;
  /** A submodule. */
  isRepository(path: string): boolean;
}

/** What checks run. */
export interface Reached {
  /** Files that they run, scripts of scripts included. */
  readonly files: ReadonlySet<string>;
  /** Of these, those that no word names by itself: a pattern or a folder does. */
  readonly listed: ReadonlySet<string>;
  /** Folders that they name. */
  readonly folders: ReadonlySet<string>;
  /** Programs that they start, without a path. */
  readonly programs: ReadonlySet<string>;
  /** Files that they would read if they were there. */
  readonly absent: ReadonlySet<string>;
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
/** They run what is in a folder or matches a pattern. `find` and `ls` only name it: another program runs it then. */
const RUNNERS_REGEXP = /^(?:ava|bats|jest|mocha|prove|py\.?test|rspec|tap|uvu|vitest)$/;
/** Programs that run tests only by one of these words. */
const RUNNERS_BY_WORD: readonly (readonly [program: RegExp, word: RegExp])[] = [
  [/^python[\d.]*$/, /^(?:unittest|pytest|nose2)$/],
  [/^node$/, /^--test$/],
  [/^(?:bun|deno)$/, /^test$/],
];
const LISTERS: ReadonlySet<string> = new Set(["find", "for", "ls"]);
/** What they print of a file is what another program runs or is asked: `cat cases | xargs -n1 sh`. */
const FEEDERS: ReadonlySet<string> = new Set(
  "awk cat cut echo git grep head jq printf sed sort tail tr uniq yq".split(" "),
);
const INTERPRETERS_REGEXP = /^(?:\.|source|(?:ba|da|z|k)?sh|node|bun|deno|python[\d.]*|ruby|perl|bats)$/;
/** They read a file into the command itself. */
const INCLUDES: ReadonlySet<string> = new Set([".", "source", "include"]);
/** Endings that a runner adds to what it is given. */
const ENDINGS: readonly string[] = ["", ".js", ".mjs", ".cjs", ".ts", ".mts", ".py", ".sh", ".rb"];

/** Files that commands run: words that are paths, those of the scripts and targets they run, and of those files again. */
export async function reachedBy(
  commands: readonly string[],
  tree: FileTree,
  isTest: (path: string) => boolean = () => false,
): Promise<Reached> {
  const reach = new Reach(tree, isTest);
  for (const command of commands) await reach.follow(command, ".", 0);
  return reach;
}

/** Where a word of a command is read. */
interface Spot {
  readonly base: string;
  readonly depth: number;
  /** Another program of the command runs what this one lists. */
  readonly lists: boolean;
}

class Reach implements Reached {
  readonly files: Set<string> = new Set();
  readonly listed: Set<string> = new Set();
  readonly folders: Set<string> = new Set();
  readonly programs: Set<string> = new Set();
  readonly absent: Set<string> = new Set();
  readonly #seen = new Set<string>();
  readonly #tree: FileTree;
  readonly #isTest: (path: string) => boolean;

  constructor(tree: FileTree, isTest: (path: string) => boolean) {
    this.#tree = tree;
    this.#isTest = isTest;
  }

  async follow(text: string, folder: string, depth: number): Promise<void> {
    if (this.#seen.has(`${folder}\0${text}`)) return;
    this.#seen.add(`${folder}\0${text}`);
    const parsed = simpleCommands(text);
    const bases = await basesOf(parsed, folder, this.#tree);
    const runsNamed = parsed.some(({ program }) => INTERPRETERS_REGEXP.test(program));
    for (const command of parsed) {
      for (const program of programsOf(command)) this.programs.add(program);
      const lists = (LISTERS.has(command.program) && runsNamed) || command.feeds;
      if (!lists && (command.observed || READERS.has(command.program))) continue;
      for (const base of bases) {
        const codes = codeIn(command.program, command.words);
        for (const word of [command.program, ...command.words]) {
          if (!codes.includes(word)) await this.#take(command, word, { base, depth, lists });
        }
        for (const code of codes) await this.#takeCode(code, base, depth);
        for (const value of command.settings.flatMap((one) => one.split(/[=:,]/).slice(1))) {
          await this.#takeSetting(value, base, depth);
        }
        await this.#runManifests(command, base, depth);
      }
    }
  }

  async #take(
    command: SimpleCommand,
    word: string,
    { base, depth, lists }: Spot,
  ): Promise<void> {
    const path = await pathOf(word, base, this.#tree);
    if (path !== null && command.feeds && isProduct(path)) return;
    if (path !== null && this.#tree.has(path)) {
      this.listed.delete(path);
      return await this.#enter(path, depth);
    }
    if (path !== null) this.folders.add(path);
    if (lists || runsFolders(command)) {
      for (const one of path === null ? matching(word, base, this.#tree) : casesIn(path, this.#tree, this.#isTest)) {
        if (!this.files.has(one)) this.listed.add(one);
        await this.#enter(one, depth);
      }
    }
    if (path !== null || !INCLUDES.has(command.program) || word === command.program) return;
    const missing = posix.join(base, word);
    if (/^[\w./-]+$/.test(word) && !word.startsWith("/")) this.absent.add(missing);
  }

  /** Files that code names as an argument, but for what it checks. */
  async #takeCode(code: string, base: string, depth: number): Promise<void> {
    for (const word of namesIn(code)) {
      const path = await pathOf(word, base, this.#tree);
      if (path === null) continue;
      if (!this.#tree.has(path)) this.folders.add(path);
      else if (this.#isTest(path) || !await this.#isChecked(code, path)) await this.#enter(path, depth);
    }
  }

  async #isChecked(code: string, path: string): Promise<boolean> {
    const text = await this.#tree.read(path) ?? "";
    let looks = looksAround(text);
    for (const name of looks ? [] : namesIn(text)) {
      for (const base of new Set([".", posix.dirname(path)])) {
        const other = await pathOf(name, base, this.#tree);
        looks ||= other !== null && other !== path;
      }
    }
    return isChecked(code, path, text, looks);
  }

  /** What a variable leads to: `PYTHONPATH=src`, `BASH_ENV=./env.sh`. */
  async #takeSetting(value: string, base: string, depth: number): Promise<void> {
    const path = await pathOf(value, base, this.#tree);
    if (path === null) return;
    if (this.#tree.has(path)) await this.#enter(path, depth);
    else this.folders.add(path);
  }

  async #enter(path: string, depth: number): Promise<void> {
    if (this.files.has(path)) return;
    this.files.add(path);
    if (depth >= DEPTH) return;
    const target = await this.#tree.linkAt(path);
    const real = target === null ? null : await pathOf(posix.join(posix.dirname(path), target), ".", this.#tree);
    if (real !== null && this.#tree.has(real)) return await this.#enter(real, depth);
    const text = await this.#tree.read(path);
    if (text === null || text.length > LONGEST_SCRIPT || isMakefile(path) || !isShell(path, text)) return;
    await this.follow(text, ".", depth + 1);
    if (posix.dirname(path) !== ".") await this.follow(text, posix.dirname(path), depth + 1);
  }

  async #runManifests({ program, words }: SimpleCommand, base: string, depth: number): Promise<void> {
    const name = manifestsOf(program).find((one) => this.#tree.has(posix.join(base, one)));
    if (name === undefined) return;
    const path = posix.join(base, name);
    const text = await this.#tree.read(path) ?? "";
    const scripts = scriptsRun(path, text, words);
    if (scripts.length === 0) return;
    this.files.add(path);
    if (depth >= DEPTH) return;
    for (const script of scripts) await this.follow(script, base, depth + 1);
  }
}

/** The folder itself, and those that a `cd`, `-C` or `--prefix` may lead to. */
async function basesOf(
  commands: readonly SimpleCommand[],
  folder: string,
  tree: FileTree,
): Promise<readonly string[]> {
  const bases = new Set([folder]);
  for (const word of commands.flatMap(({ words }) => words)) {
    const path = await pathOf(word, folder, tree);
    if (path !== null && !tree.has(path)) bases.add(path);
  }
  return [...bases];
}

/** The existing file or folder that a word names: `./a`, `--flag=a`, `a::case`, `a:12`, `pkg.module`; or `null`. */
async function pathOf(word: string, base: string, tree: FileTree): Promise<string | null> {
  const bare = word.replace(/^-[^=]*=/, "").replace(/::.*$|:\d+$/, "");
  if (bare === "" || bare.startsWith("-") || bare.startsWith("/")) return null;
  const path = posix.join(base, bare).replace(/\/$/, "");
  if (path === ".") return null;
  for (const ending of ENDINGS) if (tree.has(path + ending)) return path + ending;
  const module = /^[\w.]+$/.test(bare) ? posix.join(base, `${bare.replaceAll(".", "/")}.py`) : null;
  if (module !== null && tree.has(module)) return module;
  return tree.isFolder(path) ? path : await behind(path, tree);
}

/** A file behind a linked folder, or the submodule that it is in. */
async function behind(path: string, tree: FileTree): Promise<string | null> {
  const parts = path.split("/");
  for (let length = 1; length < parts.length; length += 1) {
    const folder = parts.slice(0, length).join("/");
    if (!tree.has(folder)) continue;
    if (tree.isRepository(folder)) return folder;
    const target = await tree.linkAt(folder);
    if (target === null || target.startsWith("/")) return null;
    return await pathOf(posix.join(posix.dirname(folder), target, ...parts.slice(length)), ".", tree);
  }
  return null;
}

function runsFolders({ program, words }: SimpleCommand): boolean {
  return RUNNERS_REGEXP.test(program) ||
    RUNNERS_BY_WORD.some(([runner, by]) => runner.test(program) && words.some((word) => by.test(word)));
}

/** Files in folders below the base that match a pattern. */
function matching(word: string, base: string, tree: FileTree): readonly string[] {
  if (!/[*?[]/.test(word) || word.startsWith("-") || word.startsWith("/")) return [];
  const pattern = posix.join(base, word);
  if (!pattern.includes("/")) return [];
  const matches = picomatch(pattern, { dot: true });
  return [...tree.paths()].filter((path) => matches(path) && !isProduct(path));
}

/** All files of a folder that a runner is given; where tests are known by their names, these alone. */
function casesIn(folder: string, tree: FileTree, isTest: (path: string) => boolean): readonly string[] {
  const files = [...tree.paths()].filter((path) => path.startsWith(`${folder}/`));
  return isProduct(`${folder}/any`) || files.some(isTest) ? [] : files;
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
  /** Variables that it sets for what it starts. */
  readonly settings: readonly string[];
  /** Its output is compared or searched: `test "$(…)" = 5`, `… | grep -q`. It is what is checked. */
  readonly observed: boolean;
  /** It only prints a file, and another program takes that as its operands or input. */
  readonly feeds: boolean;
}

/** The simple commands of a shell text, those in `sh -c "…"` and `$(…)` included. Pure. */
function simpleCommands(text: string): readonly SimpleCommand[] {
  const commands: SimpleCommand[] = [];
  const open: string[] = [];
  const around: string[] = [];
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
    if (separator === "$(" || separator === "`") around.push(command?.program ?? "[");
    words = [];
    if (command === null) return;
    if (JUDGES.has(command.program)) piped = piped.map((one) => ({ ...one, observed: true }));
    piped.push(command);
    if (separator === "|") return;
    commands.push(...fed(piped, open.includes("$(") ? around.at(-1) : undefined));
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
    if (quoted !== undefined && /\s/.test(quoted) && !takesCode(words)) commands.push(...simpleCommands(quoted));
    glued += quoted ?? bare ?? "";
  }
  close("\n");
  commands.push(...fed(piped, undefined));
  return commands;
}

/** Commands of one pipe, with those marked whose output something takes that is no mere reader. */
function fed(piped: readonly SimpleCommand[], outer: string | undefined): readonly SimpleCommand[] {
  const takes = (program: string): boolean => !READERS.has(program) && !JUDGES.has(program);
  return piped.map((command, index) => ({
    ...command,
    feeds: FEEDERS.has(command.program) &&
      (piped.slice(index + 1).some(({ program }) => takes(program)) || (outer !== undefined && takes(outer))),
  }));
}

function commandOf(words: readonly string[], observed: boolean): SimpleCommand | null {
  const at = words.findIndex((word) => !WRAPPERS.has(word) && !/^(?:\w+=|-|\d+[smh]?$)/.test(word));
  const program = words[at];
  if (program === undefined) return null;
  const set = (program === "export" ? words : words.slice(0, at)).filter((word) => /^[A-Za-z_]\w*=/.test(word));
  return { program, words: words.slice(at + 1), settings: set, observed, feeds: false };
}

/** The program, and the module that an interpreter runs by its name. */
function programsOf({ program, words }: SimpleCommand): readonly string[] {
  const at = INTERPRETERS_REGEXP.test(program) ? words.indexOf("-m") : -1;
  return [program, ...at < 0 ? [] : words.slice(at + 1, at + 2)].filter((name) => !name.includes("/"));
}
