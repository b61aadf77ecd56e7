import { posix } from "node:path";
import picomatch from "picomatch";
import { isProduct } from "./mentioned.ts";
import { isMakefile } from "./scripts.ts";

/** They decide how checks run without being named by them: existing ones are old, and new ones count as absent. */
const CONFIGURATION: readonly string[] = [
  ".npmrc",
  ".yarnrc*",
  "bunfig.toml",
  "conftest.py",
  "pytest.ini",
  ".pytest.ini",
  "tox.ini",
  "{sitecustomize,usercustomize}.py",
  "*.pth",
  "pytest.toml",
  ".pytest.toml",
  "{noxfile,toxfile}.py",
  "{vite,vitest,jest,playwright,cypress,karma,ava,babel,wtr,web-test-runner}.config.*",
  "{karma,wdio,protractor,nightwatch,codecept}.conf.*",
  "testem.*",
  ".testcaferc*",
  ".swcrc",
  "nextest.toml",
  ".busted",
  "{behat,codeception,phpspec}.y{a,}ml",
  ".babelrc*",
  "{T,t}askfile{,.dist}.y{a,}ml",
  "{turbo,nx,lerna}.json",
  "pnpm-workspace.yaml",
  "vitest.workspace.*",
  ".mocharc*",
  ".taprc",
  ".rspec",
  "phpunit.xml*",
  "go.work",
];
/** The same, but that projects need new ones of them to build at all: only existing ones are old. */
const BUILDS: readonly string[] = ["tsconfig*.json", "build.rs", "pom.xml", "build.gradle*"];
/** Which programs there are: a new one may be the work as well. */
const VERSIONS: readonly string[] = [
  "{.nvmrc,.node-version,.python-version,.ruby-version,.java-version,.tool-versions,rust-toolchain,rust-toolchain.toml}",
  "{mise,.mise,mise.local,.mise.local}.toml",
  ".envrc",
  ".sdkmanrc",
];
/** The same of task runners, version managers, environments and module maps: they may be the work as well. */
const TASKS: readonly string[] = [
  "{R,r}akefile{,.rb}",
  "{G,g}{ulp,runt}file.*",
  "{tasks,dodo,fabfile}.py",
  "{build,ivy}.xml",
  "build.{sbt,zig,xs,cake}",
  "{project.clj,mix.exs,Package.swift,dart_test.yaml,magefile.go,Earthfile,hatch.toml,Makefile.toml}",
  "{CMakeLists.txt,meson.build,BUILD,BUILD.bazel,WORKSPACE,MODULE.bazel,.bazelrc}",
  "{Directory.Build.props,Directory.Build.targets,*.runsettings,global.json}",
  "{gradle.properties,settings.gradle,settings.gradle.kts,deps.edn,tests.edn,bb.edn,dune-project}",
  "{docker-,}compose*.y{a,}ml",
  "Dockerfile*",
  "{.pre-commit-config,lefthook,.lefthook}.y{a,}ml",
  ...VERSIONS,
  ".env",
  ".env.*",
  "{importmap,import_map,jsconfig}.json",
  ".pnp.{cjs,loader.mjs}",
  ".pnpmfile.cjs",
  ".gitattributes",
];
/** What linters and coverage ask for. */
const LINTERS: readonly string[] = [
  "eslint.config.*",
  ".eslintrc*",
  ".oxlintrc*",
  "biome.json{,c}",
  ".prettierrc*",
  ".stylelintrc*",
  ".flake8",
  ".pylintrc",
  "{mypy,.mypy}.ini",
  "{ruff,.ruff,clippy,rustfmt}.toml",
  "pyrightconfig.json",
  ".coveragerc",
  "{.nycrc,.c8rc}*",
  ".golangci.*",
  ".shellcheckrc",
  ".{eslint,prettier,stylelint,markdownlint,semgrep,jshint}ignore",
  "{prettier,stylelint,commitlint,knip,oxlint}.config.*",
  "{.rubocop,.swiftlint,.yamllint,.hadolint,.ansible-lint,detekt,checkstyle,tslint,cspell}*.{yml,yaml,json,xml}",
  "{.markdownlint,.commitlintrc,.dependency-cruiser,.clang-tidy,.clang-format,.scalafmt,.php-cs-fixer}*",
  "{phpstan,psalm}.{neon,neon.dist,xml,xml.dist}",
  "{pylintrc,.bandit,.pydocstyle,.yamllint,.credo.exs,.simplecov,deny.toml}",
];
/** Of these only sections of runners are old. */
const MANIFESTS: readonly string[] = [
  "package.json",
  "deno.json",
  "deno.jsonc",
  "composer.json",
  "pyproject.toml",
  "setup.cfg",
  "Cargo.toml",
];
/** Modules that tests in Python rest on: a file of that name beside them is taken in their place. */
const MODULES: ReadonlySet<string> = new Set(
  ("abc argparse ast asyncio base64 builtins collections contextlib copy csv dataclasses datetime decimal difflib " +
    "doctest enum functools glob hashlib hypothesis importlib inspect io itertools json logging math mock numpy " +
    "operator os pathlib pickle platform pytest random re requests runpy shlex shutil signal site socket sqlite3 " +
    "string struct subprocess sys tempfile textwrap threading time traceback types typing unittest urllib uuid warnings")
    .split(" "),
);

/** More of the standard library: taken in its place where a test imports it. */
const STANDARD: ReadonlySet<string> = new Set(
  ("aifc array asynchat asyncore atexit audioop bdb binascii bisect bz2 cProfile calendar cgi cgitb " +
    "chunk cmath cmd code codecs codeop colorsys compileall concurrent configparser contextvars copyreg " +
    "crypt ctypes curses dbm dis distutils email encodings ensurepip errno faulthandler fcntl filecmp " +
    "fileinput fnmatch fractions ftplib gc genericpath getopt getpass gettext graphlib grp gzip heapq " +
    "hmac html http imaplib imghdr imp ipaddress keyword linecache locale lzma mailbox mailcap marshal " +
    "mimetypes mmap modulefinder msilib msvcrt multiprocessing netrc nis nntplib nt ntpath nturl2path " +
    "numbers opcode optparse ossaudiodev pdb pickletools pipes pkgutil plistlib poplib posix posixpath " +
    "pprint profile pstats pty pwd py_compile pyclbr pydoc pydoc_data pyexpat queue quopri readline " +
    "reprlib resource rlcompleter sched secrets select selectors shelve smtpd smtplib sndhdr socketserver " +
    "spwd sre_compile sre_constants sre_parse ssl stat statistics stringprep sunau symtable sysconfig " +
    "syslog tabnanny tarfile telnetlib termios timeit tkinter token tokenize tomllib trace tracemalloc " +
    "tty turtle unicodedata uu venv wave weakref webbrowser winreg winsound wsgiref xdrlib xml xmlrpc " +
    "zipapp zipfile zipimport zlib zoneinfo")
    .split(" "),
);

const isConfiguration = picomatch([...CONFIGURATION], { dot: true, basename: true });
const isLinter = picomatch([...LINTERS, ".gitattributes"], { dot: true, basename: true });
const isVersion = picomatch([...VERSIONS], { dot: true, basename: true });
const isBundler = picomatch([
  ...LINTERS,
  ...TASKS,
  "{vite,babel}.config.*",
  ".babelrc*",
  "{turbo,nx,lerna}.json",
  "pnpm-workspace.yaml",
], {
  dot: true,
  basename: true,
});
const isBuild = picomatch([...BUILDS, ...LINTERS, ...TASKS], { dot: true, basename: true });
const SETTINGS_REGEXP =
  /^(?:([\w-]+)\.(?:config|conf)\.\w+|\.?([\w-]+)\.(?:jsonc?|toml|ya?ml|ini|cfg)|\.([\w-]+)rc(?:\.\w+)?)$/;
const isCargo = picomatch(["**/.cargo/config{,.toml}"], { dot: true });
const isWrapper = picomatch(["**/{.mvn,gradle/wrapper}/**"], { dot: true });
/** Languages in which one file is found in the place of another that differs in its ending alone. */
const ALIKE_REGEXP = /^(.*?)(?:\.(?:[cm]?[jt]sx?|json|node)|(?:\/__init__)?\.(?:py|[\w-]*\.?so|pyd|pyc))$/;
/** What Python runs instead of a source, whatever that says now. */
const COMPILED_REGEXP = /(?:^|\/)__pycache__\/|\.py[cod]$/;

/** What runners and compilers remember of earlier runs, by which they leave a test or a check out. */
const CACHE_REGEXP =
  /(?:^|\/)\.(?:cache|turbo|nx|wireit|task|gradle|rush|(?:mypy|pytest|ruff|jest|parcel)[_-]cache|(?:eslint|stylelint)cache)(?:\/|$)|\.tsbuildinfo$/;

/** A package that git has: no item's work. */
function isInstalled(path: string): boolean {
  return /(?:^|\/)(?:node_modules|site-packages|[^/]+\.(?:egg|dist)-info|\.yarn\/(?:releases|plugins))\//.test(path);
}

/** What a file is found by where its ending is left out; `null` where no ending may be. Pure. */
export function stemOf(path: string): string | null {
  const stem = ALIKE_REGEXP.exec(path)?.[1];
  return stem === undefined ? null : `${stem}.${/\.(?:py\w?|[\w-]*\.?so)$/.test(path) ? "py" : "js"}`;
}

/** The folders of packages from elsewhere, of which a check runs a file: `vendor/bats/`. Pure. */
export function packagesOf(reached: ReadonlySet<string>): readonly string[] {
  const found = [...reached].flatMap((path) =>
    /^(?:.*\/)?(?:vendor|vendored|third[_-]party|external|extern|deps)\/[^/]+\//.exec(path)?.[0] ?? []
  );
  return [...new Set(found)];
}

/** Settings that carry the name of a program that checks start: `mini.config.json`, `.minirc`, `mini.toml`. Pure. */
export function namedAfter(path: string, programs: ReadonlySet<string>): boolean {
  const name = SETTINGS_REGEXP.exec(posix.basename(path))?.slice(1).find((found) => found !== undefined);
  return name !== undefined && programs.has(name);
}

/** A file by which runners are configured, whether any check names it or not. Pure. */
export function configuresRunner(path: string): boolean {
  return isConfiguration(path) || isBuild(path) || isCargo(path) || isWrapper(path) || isInstalled(path) ||
    CACHE_REGEXP.test(path);
}

/** One that decides how a project is built as well. Pure. */
export function configuresBuild(path: string): boolean {
  return isBundler(path) || isWrapper(path) || CACHE_REGEXP.test(path);
}

/** A new one that may be the work as well. Pure. */
export function mayBeWork(path: string, programs: ReadonlySet<string>): boolean {
  return configuresBuild(path) || isVersion(path) || isManifest(path) || isBuild(path) || isVendored(path) ||
    (path.endsWith(".py") && isProduct(path)) ||
    (!isConfiguration(path) && namedAfter(path, programs));
}

/** Found before what is installed, as soon as there is such a folder. */
function isVendored(path: string): boolean {
  return path.startsWith("vendor/");
}

/** A manifest of which only what decides on checks is old. Pure. */
export function isManifest(path: string): boolean {
  return MANIFESTS.includes(posix.basename(path));
}

/** What new files are compared with. */
export interface Existing {
  /** Programs that the checks start. */
  readonly programs: ReadonlySet<string>;
  /** Folders that hold judging files. */
  readonly folders: ReadonlySet<string>;
  /** What judging files are found by, their endings left out. */
  readonly stems: ReadonlySet<string>;
  /** Modules that judging files import. */
  readonly imported: ReadonlySet<string>;
  has(path: string): boolean;
}

/** The Python module that a file is for tests in these folders; `null` where they do not look. Pure. */
export function moduleOf(path: string, folders: ReadonlySet<string>): string | null {
  const folder = posix.dirname(path);
  const name = posix.basename(path);
  const module = name === "__init__.py" ? posix.basename(folder) : name.endsWith(".py") ? name.slice(0, -3) : null;
  const beside = name === "__init__.py" ? posix.dirname(folder) : folder;
  return module !== null && (beside === "." || folders.has(beside)) ? module : null;
}

/**
 * True for a new file that is taken in the place of what a check runs, or changes how it runs, without being named:
 * runner configuration, a Makefile that comes before the one there is, a program on the path, a module beside the tests. Pure.
 */
export function shadows(path: string, mode: string, { programs, folders, stems, imported, has }: Existing): boolean {
  const folder = posix.dirname(path);
  const name = posix.basename(path);
  if (isConfiguration(path) || isCargo(path) || isInstalled(path) || isLinter(path) || isVersion(path)) return true;
  if (namedAfter(path, programs) || COMPILED_REGEXP.test(path) || CACHE_REGEXP.test(path)) return true;
  if (stems.has(stemOf(path) ?? "")) return true;
  if (folder !== "." && folders.has(folder) && (isManifest(path) || isBuild(path))) return true; // nearer to the tests
  if (isVendored(path) && !has("vendor")) return true;
  if (isMakefile(path)) {
    return ["GNUmakefile", "makefile", "Makefile", "justfile", "Justfile", ".justfile"].some((one) =>
      one !== name && has(posix.join(folder, one))
    );
  }
  const isProgram = mode === "100755" || mode === "120000";
  const bare = name.replace(/\.(?:cmd|exe|bat|ps1)$/, "");
  if (programs.has(bare) && (isProgram || bare !== name || folder.endsWith(".bin"))) return true;
  if (name === "__init__.py" && folders.has(folder)) return true; // runs before every test in it
  const module = moduleOf(path, folders);
  return module !== null &&
    (MODULES.has(module) || programs.has(module) || (STANDARD.has(module) && imported.has(module)));
}
