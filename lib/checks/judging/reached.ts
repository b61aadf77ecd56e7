import { posix } from "node:path";
import picomatch from "picomatch";
import { codeIn, isChecked, looksAround, namesIn } from "./inline_code.ts";
import { isProduct } from "./mentioned.ts";
import { isChecker, runsFolders, runsWork } from "./runs_work.ts";
import { isMakefile, manifestsOf, runsWorkspaces, scriptsRun, targetsRun } from "./scripts.ts";
import {
  compares,
  expectations,
  expectedOf,
  outputsIn,
  pathFolders,
  printedBy,
  READERS,
  type SimpleCommand,
  simpleCommands,
  type Variables,
  variablesIn,
  withValues,
} from "./shell_commands.ts";
import { INTERPRETERS_REGEXP, isShell, mainFiles, runsWhatItFinds, startedPrograms } from "./started.ts";

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
  /** What is made, run beside a test by the same check: the test judges it. */
  readonly work: ReadonlySet<string>;
  /** Of the files, those that no word names by itself: a pattern or a folder does. */
  readonly listed: ReadonlySet<string>;
  /** Files that they compare with, or ask about: rules, sums, golden files, input. */
  readonly data: ReadonlySet<string>;
  /** Folders that they name. */
  readonly folders: ReadonlySet<string>;
  /** Programs that they start, without a path. */
  readonly programs: ReadonlySet<string>;
  /** Files that they would read if they were there. */
  readonly absent: ReadonlySet<string>;
  /** Files and folders that make would take for what it is asked to make, and run nothing. */
  readonly targets: ReadonlySet<string>;
}

/** How deep files are followed. */
const DEPTH = 3;
/** Files longer than that are data. */
const LONGEST_SCRIPT = 256 * 1024;
const LISTERS: ReadonlySet<string> = new Set(["find", "for", "ls"]);
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
  for (const command of commands) {
    await reach.follow(command, ".", 0);
    reach.endCheck();
  }
  return reach;
}

/** Where a word of a command is read. */
interface Spot {
  readonly base: string;
  readonly depth: number;
  /** Another program of the command runs what this one lists. */
  readonly lists: boolean;
  readonly variables: Variables;
  /** Files that the text writes. */
  readonly made: ReadonlySet<string>;
  /** Folders that it puts on PATH. */
  readonly paths: readonly string[];
  /** All of it. */
  readonly text: string;
  /** Paths that other words of the command name. */
  readonly operands: readonly string[];
}

class Reach implements Reached {
  readonly files: Set<string> = new Set();
  readonly work: Set<string> = new Set();
  readonly listed: Set<string> = new Set();
  readonly folders: Set<string> = new Set();
  readonly programs: Set<string> = new Set();
  readonly absent: Set<string> = new Set();
  readonly targets: Set<string> = new Set();
  readonly data: Set<string> = new Set();
  readonly #seen = new Set<string>();
  /** What this check runs that is made, and whether it runs a test. */
  readonly #made = new Set<string>();
  #hasTests = false;
  readonly #tree: FileTree;
  readonly #isTest: (path: string) => boolean;

  constructor(tree: FileTree, isTest: (path: string) => boolean) {
    this.#tree = tree;
    this.#isTest = isTest;
  }

  /** What is made judges itself where no test does. */
  endCheck(): void {
    for (const path of this.#made) (this.#hasTests ? this.work : this.files).add(path);
    this.#made.clear();
    this.#hasTests = false;
  }

  /** @param observed something looks at what the text prints */
  async follow(text: string, folder: string, depth: number, observed = false): Promise<void> {
    const seen = `${folder}\0${observed}\0${text}`;
    if (this.#seen.has(seen)) return;
    this.#seen.add(seen);
    const parsed = simpleCommands(text).map((one) => observed ? { ...one, observed } : one);
    const variables = variablesIn(text);
    const bases = await basesOf(parsed, folder, { tree: this.#tree, variables });
    const runsNamed = parsed.some(({ program }) => INTERPRETERS_REGEXP.test(program));
    const about = { variables, made: new Set(outputsIn(text)), paths: pathFolders(text), text, operands: [] };
    for (const command of parsed) {
      for (const program of startedPrograms(command)) this.programs.add(program);
      this.#hasTests ||= runsFolders(command);
      const lists = (LISTERS.has(command.program) && runsNamed) || command.feeds || runsWhatItFinds(command);
      for (const base of bases) {
        const spot = { base, depth, lists, ...about };
        await this.#takeData(command, spot);
        if (!lists && READERS.has(command.program)) continue;
        if (lists || !command.observed) await this.#takeAll(command, spot);
        else await this.#takeCheckers(command, spot);
        await this.#runManifests(command, base, depth);
      }
    }
  }

  async #takeAll(command: SimpleCommand, spot: Spot): Promise<void> {
    const { base, depth, variables, made, paths } = spot;
    const codes = codeIn(command.program, command.words);
    const operands = compares(command.program) ? expectedOf(command.words) : command.words;
    const onPath = paths.map((folder) => posix.join(folder, command.program));
    const named: { readonly word: string; readonly one: string; readonly path: string | null }[] = [];
    for (const word of [command.program, ...onPath, ...operands]) {
      if (codes.includes(word) || made.has(word)) continue;
      for (const one of [...withValues(word, variables), ...printedBy(word)]) {
        named.push({ word, one, path: await pathOf(one, base, this.#tree) });
      }
    }
    for (const { word, one } of named) {
      const others = named.flatMap((other) => other.word === word ? [] : other.path ?? []);
      const lists = spot.lists || (one !== word && one.includes("*"));
      await this.#take(command, one, { ...spot, lists, operands: others });
    }
    for (const code of codes) await this.#takeCode(code, base, depth);
    for (const value of command.settings.flatMap((one) => one.split(/[=:,]/).slice(1))) {
      await this.#takeSetting(value, base, depth);
    }
  }

  /** Files that say what is right: what is made may be among them. */
  async #takeData(command: SimpleCommand, { base, variables, made }: Spot): Promise<void> {
    const given = command.words.flatMap((word) => withValues(word, variables));
    const words = command.isOperand === true
      ? expectedOf(given)
      : expectations({ ...command, words: given }, isProduct);
    for (const word of words) {
      const path = made.has(word) ? null : await pathOf(word, base, this.#tree);
      if (path !== null && this.#tree.has(path) && !this.files.has(path)) this.data.add(path);
    }
  }

  /** What a program prints is what is checked, but for one that itself checks. */
  async #takeCheckers(command: SimpleCommand, spot: Spot): Promise<void> {
    if (!INTERPRETERS_REGEXP.test(command.program) && !command.program.includes("/")) return;
    const isTests = runsFolders(command);
    for (const word of [command.program, ...command.words]) {
      for (const one of withValues(word, spot.variables)) {
        const path = await pathOf(one, spot.base, this.#tree);
        if (path === null || isProduct(path) || !(isTests || isChecker(path))) continue;
        await this.#take(command, one, spot);
      }
    }
  }

  async #take(command: SimpleCommand, word: string, spot: Spot): Promise<void> {
    const { base, depth, lists, text, operands } = spot;
    const path = await pathOf(word, base, this.#tree);
    if (path !== null && command.feeds && isProduct(path)) return;
    if (path !== null && this.#tree.has(path)) {
      this.listed.delete(path);
      const isIncluded = INCLUDES.has(command.program);
      const isWork = runsWork(path, { text, command, isIncluded, operands, isTest: (one) => this.#holdsTests(one) });
      return await this.#enter(path, depth, isWork);
    }
    if (path !== null) this.folders.add(path);
    const main = path === null ? undefined : mainFiles(command, path).find((one) => this.#tree.has(one));
    if (main !== undefined) await this.#take(command, posix.relative(base, main), spot);
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

  #holdsTests(path: string): boolean {
    if (!this.#tree.isFolder(path)) return this.#isTest(path);
    return [...this.#tree.paths()].some((one) => one.startsWith(`${path}/`) && this.#isTest(one));
  }

  async #enter(path: string, depth: number, isWork = false): Promise<void> {
    if (this.files.has(path) || (isWork && this.#made.has(path))) return;
    if (isWork) this.#made.add(path);
    else this.files.add(path);
    this.#hasTests ||= this.#isTest(path);
    if (depth >= DEPTH) return;
    const target = await this.#tree.linkAt(path);
    const real = target === null ? null : await pathOf(posix.join(posix.dirname(path), target), ".", this.#tree);
    if (real !== null && this.#tree.has(real)) return await this.#enter(real, depth);
    const text = await this.#tree.read(path);
    if (text === null || text.length > LONGEST_SCRIPT || isMakefile(path) || !isShell(path, text)) return;
    await this.follow(text, ".", depth + 1);
    if (posix.dirname(path) !== ".") await this.follow(text, posix.dirname(path), depth + 1);
  }

  async #runManifests(command: SimpleCommand, base: string, depth: number): Promise<void> {
    const names = manifestsOf(command.program);
    const name = names.find((one) => this.#tree.has(posix.join(base, one)));
    if (name === undefined) return;
    await this.#runManifest(posix.join(base, name), command, depth);
    if (!runsWorkspaces(command.program, command.words)) return;
    for (const path of this.#tree.paths()) {
      const isPackage = posix.basename(path) === name && posix.dirname(path) !== base &&
        !path.includes("node_modules/");
      if (isPackage) await this.#runManifest(path, command, depth);
    }
  }

  async #runManifest(path: string, { words, observed }: SimpleCommand, depth: number): Promise<void> {
    const base = posix.dirname(path);
    const text = await this.#tree.read(path) ?? "";
    const scripts = scriptsRun(path, text, words);
    for (const target of targetsRun(path, text, words)) this.targets.add(posix.join(base, target));
    if (scripts.length === 0) return;
    this.files.add(path);
    if (depth >= DEPTH) return;
    for (const script of scripts) await this.follow(script, base, depth + 1, observed);
  }
}

/** The folder itself, and those that a `cd`, `-C` or `--prefix` may lead to. */
async function basesOf(
  commands: readonly SimpleCommand[],
  folder: string,
  { tree, variables }: { readonly tree: FileTree; readonly variables: Variables },
): Promise<readonly string[]> {
  const bases = new Set([folder]);
  for (const word of commands.flatMap(({ words }) => words).flatMap((one) => withValues(one, variables))) {
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
