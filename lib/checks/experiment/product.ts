/**
 * The kind of a changed file, by its path alone: the product, a test, or something else that judges the product.
 *
 * @module
 */
import { posix } from "node:path";
import picomatch from "picomatch";
import { words } from "../../host/data.ts";

/**
 * `product` is what the work makes; `test` is a file of `tests.globs`; `manifest` says what to install as well as how to
 * check; `lock` pins what is installed; `judge` is everything else that decides how checks run.
 */
export type FileKind = "product" | "test" | "manifest" | "lock" | "judge";

/** The known facts about a project's files. */
export interface Files {
  /** Tells whether `tests.globs` matches a path. */
  readonly isTest: (path: string) => boolean;
  /** Commands of the checks. */
  readonly commands: readonly string[];
  /** Files that a manifest names as its `bin`, `main` or `exports`. */
  readonly published: ReadonlySet<string>;
  /** Tells whether the text of an item names a path: then it is what was asked for. */
  readonly isSubject: (path: string) => boolean;
}

const TESTS = new WeakMap<readonly string[], (path: string) => boolean>();

/** Tells which paths are tests, by `tests.globs`: they are compiled once. */
export function testsBy(globs: readonly string[]): Files["isTest"] {
  const isTest = TESTS.get(globs) ?? picomatch([...globs], { dot: true });
  TESTS.set(globs, isTest);
  return isTest;
}

/** Folders of code that is made, not of code that judges it. */
const SOURCES = words(`
  app apps cmd content doc docs i18n include internal lib locales migrations pages pkg public source sources src static
  styles templates views
`);
/** Folders of which only tests make tests: product code has folders of these names as well. */
const SHARED_NAMES_REGEXP = /(?:^|\/)(?:support|helpers|fixtures|mocks|spec|e2e|golden)\//;
const MANIFESTS = words(`
  package.json deno.json deno.jsonc pyproject.toml setup.py setup.cfg Cargo.toml composer.json Gemfile pom.xml go.mod
  go.work
`);
const MANIFEST_REGEXP = /^.*\.(?:gemspec|csproj)$/;
const LOCK_REGEXP = /[-.]lock(?:\.\w+)?$|^[^/]*\block\.(?:json|ya?ml)$|^(?:go\.sum|npm-shrinkwrap\.json)$/;
const DOCUMENT_REGEXP = /\.(?:md|mdx|rst|adoc)$|^(?:LICEN[CS]E|NOTICE|CHANGE|AUTHORS|README)/i;
/** Files that build tools, task runners and test runners load by their name. */
const LOADED: readonly RegExp[] = [
  /^(?:(?:gnu)?makefile|justfile|rakefile|taskfile.*|dockerfile.*|cmakelists\.txt|build\.\w+)$/i,
  /^(?:noxfile|tasks|fabfile)\.py$/i,
  /^(?:(?:gulp|grunt)file\..*|.*\.(?:mk|cmake|gradle|kts)|.*\.(?:config|conf)\.\w+)$/i,
];
/** Files that each process of the language loads, or the runner beside a test. */
const BY_ITSELF_REGEXP = /^(?:conftest|sitecustomize|usercustomize)\.py$|\.setup\.\w+$/i;
const SETTINGS_REGEXP = /\.(?:toml|ini|cfg|conf|config|properties|ya?ml|json|jsonc|json5|env|xml)$/;
const SCRIPTS_REGEXP = /^(?:scripts?|tools?|ci|checks?|hack)\//;
/** A folder of checks is one of tests, whatever its files are called. */
const CHECKS_REGEXP = /^checks?\//;
const CODE_REGEXP =
  /\.(?:[cm]?[jt]sx?|pyi?|rb|pl|php|go|rs|java|scala|[ch](?:pp|c|h)?|cc|cs|swift|lua|exs?|zig|vue|svelte|html?|css|s[ac]ss|svg|sql|sh|bash)$/;

/** Which kind of file a changed path is. Pure. */
export function kindOf(path: string, { isTest, commands, published, isSubject }: Files): FileKind {
  const name = posix.basename(path);
  const inSources = isInSources(path);
  if (isTest(path) && !(inSources && SHARED_NAMES_REGEXP.test(path))) return "test";
  const isSource = inSources && CODE_REGEXP.test(name);
  if (LOCK_REGEXP.test(name) && !CODE_REGEXP.test(name)) return "lock";
  if ((MANIFESTS.includes(name) && !isSource) || MANIFEST_REGEXP.test(name)) return "manifest";
  if (isSubject(path) || published.has(path)) return "product";
  if (CHECKS_REGEXP.test(path)) return "test";
  if (DOCUMENT_REGEXP.test(name) || isLookedAt(path, commands)) return "product";
  if (path.split("/").some((part) => part.startsWith("."))) return "judge";
  if (isLoaded(name)) return "judge";
  if (inSources) return "product";
  return SCRIPTS_REGEXP.test(path) || SETTINGS_REGEXP.test(name) ? "judge" : "product";
}

/** True if a path may be a test's: no other path is one. Pure. */
export function mayBeTest(path: string, isTest: (path: string) => boolean): boolean {
  return isTest(path) || CHECKS_REGEXP.test(path);
}

/** True if a file of the product is code, by its ending or its folder. Pure. */
export function isCode(path: string): boolean {
  return CODE_REGEXP.test(path) || isInSources(path);
}

function isInSources(path: string): boolean {
  return path.split("/").slice(0, -1).some((folder) => SOURCES.includes(folder));
}

function isLoaded(name: string): boolean {
  return [...LOADED, BY_ITSELF_REGEXP].some((regexp) => regexp.test(name));
}

/** Settings by their ending, in a folder: data that the product reads looks like this as well. Pure. */
export function mayBeData(path: string): boolean {
  const [name, folder] = [posix.basename(path), posix.dirname(path)];
  return SETTINGS_REGEXP.test(name) && !isLoaded(name) && !/(?:^|\/)\./.test(path) && folder !== ".";
}

/** A check names this file, and does not run it: `grep -q TEN list.txt` asks for what the work puts there. */
function isLookedAt(path: string, commands: readonly string[]): boolean {
  const name = posix.basename(path);
  return isNamed(path, commands) && !CODE_REGEXP.test(name) && !isLoaded(name) && !SCRIPTS_REGEXP.test(path);
}

/** Tells whether a command names this file as one of its words. Pure. */
export function isNamed(path: string, commands: readonly string[]): boolean {
  return commands.some((command) =>
    command.split(/[\s"'`=;&|()<>]+/).some((word) => word !== "" && posix.normalize(word) === path)
  );
}

/** Files that a `package.json` names as what others run and import, relative to its folder. Pure. */
export function publishedBy(manifest: unknown): readonly string[] {
  if (typeof manifest === "string") return manifest.startsWith("#") ? [] : [posix.normalize(manifest)];
  if (typeof manifest !== "object" || manifest === null) return [];
  return Object.values(manifest).flatMap(publishedBy);
}

/** Tells whether a text names a path, or its last part if that has an ending. Pure. */
export function namesPath(text: string, path: string): boolean {
  const name = posix.basename(path);
  const named = [path, ...name.includes(".") ? [name] : []].map((one) => one.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`(?<![\\w/.-])(?:\\./)?(?:${named.join("|")})(?![\\w/-])`).test(text);
}

/** Tells whether a test imports a script or a module by its path, but for what its runner loads by itself. Pure. */
export function importsPath(text: string, path: string): boolean {
  const name = posix.basename(path);
  const [, stem, kind] = /^(.*)\.(?:(py)|[cm]?[jt]sx?)$/.exec(name) ?? [];
  if (stem === undefined || BY_ITSELF_REGEXP.test(name)) return false;
  const literal = stem.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const folder = /[\w-]*$/.exec(posix.dirname(path))?.[0] ?? "";
  const python =
    `^\\s*(?:from|import)\\s+(?:[\\w.]*\\.)?${literal}\\b|^\\s*from\\s+[\\w.]*\\b${folder}\\s+import\\b.*\\b${literal}\\b`;
  const script = `(?:\\bfrom|\\bimport|\\brequire)\\b[\\s(]*["'][^"']*/${literal}(?:\\.[cm]?[jt]sx?)?["']`;
  return new RegExp(kind === "py" ? python : script, "m").test(text);
}
