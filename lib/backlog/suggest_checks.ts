import { join } from "node:path";
import { jsonIn, objectOr, textOf } from "../host/data.ts";
import { listDirectory, readText } from "../host/files.ts";
import { checksNothing } from "./verify_commands.ts";

/** A command that a project's own files name for checking it. Only ever suggested, never run unasked. */
export interface SuggestedCheck {
  readonly command: string;
  /** The file that names it. */
  readonly from: string;
}

/** The project's root folder, as the rules below see it. */
interface Project {
  /** Tells whether an entry of the root has this name. */
  has(name: string): boolean;
  /** The first of the names that is there. */
  first(...names: readonly string[]): string | undefined;
  /** The first entry whose name matches. */
  matching(pattern: RegExp): string | undefined;
  /** A file of the root as text; "" where there is none. */
  text(name: string): Promise<string>;
  /** The entries of a folder, relative to the root. */
  list(folder: string): Promise<readonly string[]>;
}

type Found = readonly string[] | string | undefined;
type Commands = (project: Project, from: string) => Found | Promise<Found>;

/** Names of scripts, tasks and targets that mean a check, the most telling first. */
const NAMES = ["test", "tests", "check", "typecheck", "type-check", "types", "lint"];

/**
 * The sources of commands, in the order in which they are offered: a name or pattern of a file of the root, and the
 * commands that it stands for.
 */
const RULES: readonly (readonly [file: string | RegExp, commands: string | Commands])[] = [
  ["package.json", packageScripts],
  [/^deno\.jsonc?$/, denoTasks],
  [/^(?:GNUm|M|m)akefile$/, async ({ text }, from) => targets(await text(from), "make")],
  [/^\.?[Jj]ustfile$/, async ({ text }, from) => targets(await text(from), "just")],
  [/^Taskfile\.ya?ml$/, async ({ text }, from) => targets((await text(from)).replaceAll(/^ {2}(?=\S)/gm, ""), "task")],
  [/^(?:pyproject\.toml|setup\.cfg|(?:pytest|tox)\.ini|(?:conftest|manage|setup)\.py|requirements.*\.txt)$/, python],
  ["noxfile.py", "nox"],
  ["go.mod", "go test ./..."],
  ["Cargo.toml", "cargo test"],
  ["mix.exs", "mix test"],
  [/^(?:mvnw|pom\.xml)$/, ({ has }) => `${has("mvnw") ? "./mvnw" : "mvn"} -q test`],
  [
    /^(?:gradlew|build\.gradle(?:\.kts)?|settings\.gradle(?:\.kts)?)$/,
    ({ has }) => `${has("gradlew") ? "./gradlew" : "gradle"} test`,
  ],
  ["build.sbt", "sbt test"],
  ["project.clj", "lein test"],
  ["build.xml", async ({ text }) => /<target\b[^>]*\bname="test"/.test(await text("build.xml")) ? "ant test" : []],
  ["composer.json", composerScripts],
  [/^phpunit\.xml(?:\.dist)?$/, "vendor/bin/phpunit"],
  [/^(?:Rakefile|rakefile|\.rspec|Gemfile|.*\.gemspec)$/, ruby],
  [/\.(?:slnx?|csproj|fsproj|vbproj)$/, "dotnet test"],
  ["CMakeLists.txt", "cmake -B build && cmake --build build && ctest --test-dir build --output-on-failure"],
  ["meson.build", "{ test -d build || meson setup build; } && meson test -C build"],
  [
    /^(?:configure|configure\.ac|configure\.in)$/,
    ({ has }) => has("Makefile") ? [] : `${has("configure") ? "" : "autoreconf -i && "}./configure && make check`,
  ],
  ["Build.PL", "perl Build.PL && ./Build test"],
  ["Makefile.PL", "perl Makefile.PL && make test"],
  ["dist.ini", "prove -lr t"],
  ["cpanfile", ({ has }) => has("Makefile.PL") || has("Build.PL") ? [] : "prove -lr t"],
  ["Package.swift", "swift test"],
  ["pubspec.yaml", async ({ text }) => /^\s*flutter:/m.test(await text("pubspec.yaml")) ? "flutter test" : "dart test"],
  ["build.zig", "zig build test"],
  ["stack.yaml", "stack test"],
  [/\.cabal$|^cabal\.project$/, ({ has }) => has("stack.yaml") ? [] : "cabal test"],
  ["dune-project", "dune test"],
  ["rebar.config", "rebar3 eunit"],
  ["gleam.toml", "gleam test"],
  ["shard.yml", "crystal spec"],
  [/\.nimble$/, "nimble test"],
  ["elm.json", "elm-test"],
  ["Project.toml", "julia --project -e 'using Pkg; Pkg.test()'"],
  [
    "DESCRIPTION",
    async ({ list }) => (await list("tests")).includes("testthat") ? "Rscript -e 'testthat::test_local()'" : [],
  ],
  [/^(?:MODULE\.bazel|WORKSPACE(?:\.bazel)?)$/, "bazel test //..."],
  ["test.sh", "sh test.sh"],
  ["test", async ({ list }) => (await list("test")).includes("run.sh") ? "sh test/run.sh" : []],
];

/**
 * Commands that the project's own files name for checking it: scripts, tasks and targets of these names, then what the
 * tools of the language are known to need. Nothing is run.
 *
 * @param root absolute path
 */
export async function suggestChecks(root: string): Promise<readonly SuggestedCheck[]> {
  const entries: readonly string[] = await listDirectory(root).catch(() => []);
  const project: Project = {
    has: (name) => entries.includes(name),
    first: (...names) => names.find((name) => entries.includes(name)),
    matching: (pattern) => entries.find((name) => pattern.test(name)),
    text: async (name) => entries.includes(name) ? await readText(join(root, name)).catch(() => null) ?? "" : "",
    list: async (folder) => await listDirectory(join(root, folder)).catch(() => []),
  };
  const found: SuggestedCheck[] = [];
  for (const [file, commands] of RULES) {
    const from = typeof file === "string" ? project.first(file) : project.matching(file);
    if (from === undefined) continue;
    const named = typeof commands === "string" ? commands : await commands(project, from) ?? [];
    for (const command of typeof named === "string" ? [named] : named) {
      if (!found.some((other) => other.command === command)) found.push({ command, from });
    }
  }
  return found;
}

const RUNNERS: readonly (readonly [file: RegExp, run: string])[] = [
  [/^pnpm-lock\.yaml$|^pnpm-workspace\.yaml$/, "pnpm run"],
  [/^yarn\.lock$/, "yarn run"],
  [/^bun\.lockb?$/, "bun run"],
];

async function packageScripts({ matching, text }: Project): Promise<Found> {
  const data = objectOr(jsonIn(await text("package.json")));
  const manager = /^(?:pnpm|yarn|bun)(?=@)/.exec(textOf(data["packageManager"]))?.[0];
  const run = manager === undefined
    ? RUNNERS.find(([file]) => matching(file) !== undefined)?.[1] ?? "npm run"
    : `${manager} run`;
  const scripts = objectOr(data["scripts"]);
  const real = Object.keys(scripts).filter((name) => isReal(String(scripts[name])));
  const tests = real.includes("test")
    ? []
    : real.filter((name) => /^(?:unit|test[:-](?:unit|ci|run|node|all))$/.test(name));
  return [...tests, ...NAMES.filter((name) => real.includes(name))]
    .map((name) => run === "npm run" && name === "test" ? "npm test" : `${run} ${name}`);
}

/** No stand-in such as `true`, which passes whatever the code is like. */
function isReal(script: string): boolean {
  return !script.includes("no test specified") && !checksNothing(script);
}

async function denoTasks({ has, text }: Project, from: string): Promise<Found> {
  const tasks = objectOr(objectOr(jsonIn((await text(from)).replaceAll(/^\s*\/\/.*$/gm, "")))["tasks"]);
  const named = NAMES.filter((name) => Object.hasOwn(tasks, name) && !checksNothing(textOf(tasks[name]) || "a task"))
    .map((name) => `deno task ${name}`);
  return named.length > 0 || has("package.json") ? named : "deno test";
}

/** Rules of a Makefile or justfile, tasks of a Taskfile. */
function targets(text: string, tool: string): Found {
  const names = new Set([...text.matchAll(/^@?([\w-]+)(?:[ \t]+[^:\n]*)?::?(?!=)/gm)].map((match) => match[1]));
  return NAMES.filter((name) => names.has(name)).map((name) => `${tool} ${name}`);
}

const PYTHON_RUNNERS: Readonly<Record<string, string>> = {
  "uv.lock": "uv",
  "poetry.lock": "poetry",
  "pdm.lock": "pdm",
  "Pipfile.lock": "pipenv",
};

async function python({ first, has, list, matching, text }: Project): Promise<Found> {
  const pyproject = await text("pyproject.toml");
  const tox = await text("tox.ini");
  const setup = await text("setup.cfg");
  const requirements = await text(matching(/^(?:dev|test)[-_]?requirements.*\.txt$|^requirements.*\.txt$/) ?? "");
  const lock = first(...Object.keys(PYTHON_RUNNERS));
  const run = lock === undefined ? "" : `${PYTHON_RUNNERS[lock]} run `;
  const interpreter = has(".venv") ? ".venv/bin/python" : "python3";
  const tool = (name: string, rest = ""): string => `${run === "" ? `${interpreter} -m ` : run}${name}${rest}`;
  const folder = first("tests", "test");
  const tests = folder === undefined ? [] : await list(folder);
  const isPytest = first("pytest.ini", ".pytest.ini", "conftest.py") !== undefined || tests.includes("conftest.py") ||
    /\bpytest\b/.test(pyproject + tox + setup + requirements);
  const isUnittest = folder !== undefined && tests.some((name) => /^test.*\.py$/.test(name));
  const inPackage = tests.includes("__init__.py") ? " -t ." : ""; // they may import by their package's name
  const config = (name: string, ...files: readonly string[]): boolean =>
    pyproject.includes(name) || first(...files) !== undefined || setup.includes(`[${name}`);
  return [
    ...has("manage.py") ? [`${interpreter} manage.py test`] : [],
    ...isPytest ? [tool("pytest")] : [],
    ...isUnittest && !isPytest ? [`${interpreter} -m unittest discover -s ${folder}${inPackage}`] : [],
    ...tox.includes("[testenv") || pyproject.includes("[tool.tox") ? ["tox"] : [],
    ...config("mypy", "mypy.ini", ".mypy.ini") ? [tool("mypy", " .")] : [],
    ...config("pyright", "pyrightconfig.json") ? [tool("pyright")] : [],
    ...config("ruff", "ruff.toml", ".ruff.toml") ? [tool("ruff", " check .")] : [],
  ];
}

async function composerScripts({ matching, text }: Project): Promise<Found> {
  const scripts = objectOr(objectOr(jsonIn(await text("composer.json")))["scripts"]);
  const named = [...NAMES, "phpunit", "phpstan"].filter((name) => Object.hasOwn(scripts, name))
    .map((name) => `composer ${name}`);
  const known = matching(/^phpunit\.xml(?:\.dist)?$/) !== undefined;
  return named.length > 0 || known || !/phpunit\/phpunit/.test(await text("composer.json"))
    ? named
    : "vendor/bin/phpunit";
}

async function ruby({ first, has, matching, text }: Project): Promise<Found> {
  const run = has("Gemfile") ? "bundle exec " : "";
  const rakefile = await text(first("Rakefile", "rakefile") ?? "");
  const isRspec = has(".rspec") || matching(/^spec$/) !== undefined;
  return [
    ...isRspec ? [`${run}rspec`] : [],
    ...!isRspec && /TestTask|\btask\s*\(?\s*:?["']?test\b/.test(rakefile) ? [`${run}rake test`] : [],
    ...!isRspec && rakefile !== "" && !/test/i.test(rakefile) ? [`${run}rake`] : [],
    ...!isRspec && rakefile === "" && has("test")
      ? [`${run}ruby -Ilib -Itest -e 'Dir["./test/**/*test*.rb"].each { |f| require f }'`]
      : [],
    ...has(".rubocop.yml") ? [`${run}rubocop`] : [],
  ];
}
