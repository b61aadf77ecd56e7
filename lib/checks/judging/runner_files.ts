import { posix } from "node:path";
import picomatch from "picomatch";
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
  "{vitest,jest,playwright,karma,ava}.config.*",
  "vitest.workspace.*",
  ".mocharc*",
  ".taprc",
  ".rspec",
  "phpunit.xml*",
  "go.work",
];
/** The same, but that projects need new ones of them to build at all: only existing ones are old. */
const BUILDS: readonly string[] = ["tsconfig*.json", "build.rs", "pom.xml", "build.gradle*"];
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

const isConfiguration = picomatch([...CONFIGURATION], { dot: true, basename: true });
const isBuild = picomatch([...BUILDS], { dot: true, basename: true });
const isCargo = picomatch(["**/.cargo/config{,.toml}"], { dot: true });

/** A file by which runners are configured, whether any check names it or not. Pure. */
export function configuresRunner(path: string): boolean {
  return isConfiguration(path) || isBuild(path) || isCargo(path);
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
  has(path: string): boolean;
}

/**
 * True for a new file that is taken in the place of what a check runs, or changes how it runs, without being named:
 * runner configuration, a Makefile that comes before the one there is, a program on the path, a module beside the tests. Pure.
 */
export function shadows(path: string, mode: string, { programs, folders, has }: Existing): boolean {
  const folder = posix.dirname(path);
  const name = posix.basename(path);
  if (isConfiguration(path) || isCargo(path)) return true;
  if (isMakefile(path)) {
    return ["GNUmakefile", "makefile", "Makefile", "justfile", "Justfile", ".justfile"].some((one) =>
      one !== name && has(posix.join(folder, one))
    );
  }
  const isProgram = mode === "100755" || mode === "120000";
  const bare = name.replace(/\.(?:cmd|exe|bat|ps1)$/, "");
  if (programs.has(bare) && (isProgram || bare !== name || folder.endsWith(".bin"))) return true;
  const module = name === "__init__.py" ? posix.basename(folder) : name.endsWith(".py") ? name.slice(0, -3) : null;
  const beside = name === "__init__.py" ? posix.dirname(folder) : folder;
  return module !== null && (MODULES.has(module) || programs.has(module)) && (beside === "." || folders.has(beside));
}
