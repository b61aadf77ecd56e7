/**
 * Files that judging files name without running them: data that a test compares with, scripts that a checker starts.
 * Nothing says whether such a file judges or is judged: where it is, and what runs with the old one, do.
 *
 * @module
 */
import { posix } from "node:path";

/** Where names are looked for. */
export interface Mentions {
  /** A test by `tests.globs`. */
  readonly isTest: (path: string) => boolean;
  /** What the checks run. */
  readonly isRun: (path: string) => boolean;
  has(path: string): boolean;
  read(path: string): Promise<string | null>;
  /** Files with one of these words in them. */
  containing(words: readonly string[]): Promise<readonly string[]>;
}

/** So many files may be between what a check runs and what it reads. */
const DEPTH = 3;
const LONGEST_TEXT = 256 * 1024;

/** Folders that hold what is made, not what judges it. */
const PRODUCT: ReadonlySet<string> = new Set(
  ("app apps assets bin build cmd content dist docs i18n include internal lib locales migrations out pages pkg public " +
    "source sources src static styles target templates views")
    .split(" "),
);
const CODE_REGEXP =
  /\.(?:[cm]?[jt]sx?|pyi?|rb|pl|php|go|rs|java|kts?|scala|[ch](?:pp|c|h)?|cs|swift|sh|bash|zsh|fish|ps1|bat|cmd|lua|exs?|mk)$|^[^.]+$/;
const DOCUMENT_REGEXP = /\.(?:md|mdx|rst|adoc|html?|css|s[ac]ss|svg)$|^(?:LICENSE|NOTICE)|[-.]lock\b|\block\.\w+$/;
const IMPORT_REGEXP = /(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire\s*\(\s*)(["'`])([^"'`\n]+)\1/g;
const PYTHON_IMPORT_REGEXP = /^[ \t]*(?:from[ \t]+(\.*[\w.]*)[ \t]+import\b|import[ \t]+([^\n#;]+))/gm;
const PATH_REGEXP = /[\w@+.~-]+(?:\/[\w@+.~-]+)*/g;
const FOLDER_REGEXP = /["'`]((?:[\w@+.~-]+\/)*[\w@+.~-]+)\/?["'`]|((?:[\w@+.~-]+\/)+)(?=[$*{%"'`])/g;
/** A library by which tests say what they expect. */
const EXPECTS_REGEXP =
  /["'`](?:node:)?(?:assert|test|vitest|chai|expect|should|tape|uvu|ava|jest|bun:test|@jest\/|@playwright\/test)\b|\b(?:import|from)\s+(?:unittest|pytest|nose|hypothesis|testtools)\b|\brequire\s+["'](?:minitest|rspec|test\/unit)/;
/** Of so many judging files the folders are looked for. */
const MOST_FILES = 300;
const ENDINGS: readonly string[] = ["", ".js", ".mjs", ".cjs", ".ts", ".mts", ".tsx", ".jsx", ".py", ".rb"];

/** Those of the candidates that judging files name, or that scripts name which judging files name. */
export async function mentionedBy(
  candidates: readonly string[],
  mentions: Mentions,
): Promise<ReadonlySet<string>> {
  const { isTest, isRun, containing } = mentions;
  const found = new Set<string>(await readByFolder(candidates.filter(mayJudge), mentions));
  let wanted = new Map(
    candidates.filter((path) => mayJudge(path) && !found.has(path)).map((path) => [path, new Set([path])]),
  );
  for (let depth = 0; depth < DEPTH && wanted.size > 0; depth += 1) {
    const between = new Map<string, Set<string>>();
    for (const file of await containing([...new Set([...wanted.keys()].flatMap(wordsOf))])) {
      const judges = isTest(file) || isRun(file);
      if (!judges && (!CODE_REGEXP.test(posix.basename(file)) || isProduct(file))) continue;
      const text = await mentions.read(file);
      if (text === null || text.length > LONGEST_TEXT) continue;
      for (const [target, origins] of wanted) {
        if (target === file || !(names(text, file, target, mentions) || await helps(text, file, target, mentions))) {
          continue;
        }
        for (const origin of origins) {
          if (judges) found.add(origin);
          else between.set(file, (between.get(file) ?? new Set()).add(origin));
        }
      }
    }
    wanted = between;
  }
  return found;
}

/** Names by which a file is found in others: a module in Python goes without its ending. */
function wordsOf(path: string): readonly string[] {
  const name = posix.basename(path);
  return name.endsWith(".py") ? [name, name.slice(0, -3)] : [name];
}

/**
 * Those that judging files find in a folder which they name: `readdirSync("checks")`, `data/${name}.json`. A checker runs
 * code so; a test only reads data.
 */
async function readByFolder(
  candidates: readonly string[],
  { isTest, isRun, read, containing }: Mentions,
): Promise<readonly string[]> {
  const folders = new Map(
    candidates.filter((path) => path.includes("/")).map((path) => [path, posix.dirname(path)] as const),
  );
  if (folders.size === 0) return [];
  const words = [...new Set(folders.values())].flatMap((folder) => {
    const name = posix.basename(folder);
    return [`${name}/`, `"${name}"`, `'${name}'`, `\`${name}\``];
  });
  const files = (await containing(words)).filter((file) => isTest(file) || isRun(file)).slice(0, MOST_FILES);
  const found = new Set<string>();
  for (const file of files) {
    const text = await read(file);
    if (text === null || text.length > LONGEST_TEXT) continue;
    const named = foldersIn(text, posix.dirname(file));
    for (const [path, folder] of folders) {
      const isCode = CODE_REGEXP.test(posix.basename(path));
      if (named.has(folder) && (!isCode || (!isTest(file) && isRun(file)))) found.add(path);
    }
  }
  return [...found];
}

/** Folders that a text names: alone in quotes, or before what is put together. */
function foldersIn(text: string, folder: string): ReadonlySet<string> {
  const names = [...text.matchAll(FOLDER_REGEXP)].map(([, quoted, before]) => quoted ?? before ?? "");
  return new Set(
    names.flatMap((name) => [posix.normalize(name), posix.join(folder, name)]).map((path) => path.replace(/\/$/, "")),
  );
}

/** The Python modules of these that judging files import. */
export async function importedBy(modules: readonly string[], mentions: Mentions): Promise<ReadonlySet<string>> {
  const { isTest, isRun, containing, read } = mentions;
  const found = new Set<string>();
  if (modules.length === 0) return found;
  for (const file of await containing(modules)) {
    if (!file.endsWith(".py") || !(isTest(file) || isRun(file))) continue;
    for (const name of modulesIn(await read(file) ?? "")) {
      const module = name.split(".")[0] ?? "";
      if (modules.includes(module)) found.add(module);
    }
  }
  return found;
}

/** Code and data apart from the folders of the product; documents at the top are what is asked for. */
function mayJudge(path: string): boolean {
  return !isProduct(path) && !(posix.dirname(path) === "." && DOCUMENT_REGEXP.test(posix.basename(path)));
}

/** Code by its ending, or a script without one. Pure. */
export function isCode(path: string): boolean {
  return CODE_REGEXP.test(posix.basename(path));
}

/** In a folder that holds what is made. Pure. */
export function isProduct(path: string): boolean {
  return posix.dirname(path).split("/").some((folder) => PRODUCT.has(folder));
}

/** Code counts only for a checker beside it, and data only where the file takes no code from its folder. */
function names(text: string, file: string, target: string, { isTest, has }: Mentions): boolean {
  const folder = posix.dirname(file);
  const isBeside = !isTest(file) && folder !== "." && target.startsWith(`${folder}/`) && !isProduct(file);
  const imports = importsOf(text, folder, has);
  if (isBeside && imports.includes(target)) return true;
  if (CODE_REGEXP.test(posix.basename(target)) && !isBeside) return false;
  if (!isBeside && imports.some((path) => isWithin(target, posix.dirname(path)))) return false;
  const bare = text.replaceAll(IMPORT_REGEXP, (whole, _quote, path: string) => CODE_REGEXP.test(path) ? "" : whole);
  const words = new Set(bare.match(PATH_REGEXP));
  const name = posix.basename(target);
  for (const word of words) {
    if (!word.endsWith(name)) continue;
    if (posix.normalize(word) === target || posix.join(folder, word) === target) return true;
    // in parts: `join("data", "add.json")`
    if (word === name && posix.dirname(target).split("/").every((part) => part === "." || words.has(part))) return true;
  }
  return false;
}

/** Code that tests import and that says itself what is expected: a part of the tests. What is at the top is the work. */
async function helps(text: string, file: string, target: string, { isTest, has, read }: Mentions): Promise<boolean> {
  if (!isTest(file) || posix.dirname(target) === "." || !CODE_REGEXP.test(posix.basename(target))) return false;
  if (!importsOf(text, posix.dirname(file), has).includes(target)) return false;
  return EXPECTS_REGEXP.test(await read(target) ?? "");
}

function isWithin(path: string, folder: string): boolean {
  return folder === "." ? !path.includes("/") : path.startsWith(`${folder}/`);
}

/** The modules that a Python program imports, by their names. */
function modulesIn(text: string): readonly string[] {
  return [...text.matchAll(PYTHON_IMPORT_REGEXP)].flatMap(([, from, list = ""]) =>
    from !== undefined ? [from] : list.split(",").map((one) => one.trim().split(/\s/)[0] ?? "")
  );
}

/** Files of the repository that a program in JavaScript or Python imports. */
function importsOf(text: string, folder: string, has: (path: string) => boolean): readonly string[] {
  const relative = [...text.matchAll(IMPORT_REGEXP)].map(([, , path = ""]) => path).filter((path) =>
    path.startsWith(".") && CODE_REGEXP.test(posix.basename(path))
  ).map((path) => posix.join(folder, path));
  const modules = modulesIn(text).flatMap((name) => {
    const path = name.replace(/^\.+/, "").replaceAll(".", "/");
    return path === "" ? [] : [path, posix.join(folder, path), `${path}/__init__.py`];
  });
  return [...relative, ...modules].flatMap((path) => ENDINGS.map((ending) => path + ending)).filter((path) =>
    has(path)
  );
}
