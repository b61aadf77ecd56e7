import { describe, expect, test } from "vitest";
import { namesPath } from "../../../lib/checks/judging/judging_changes.ts";
import { movedPackages } from "../../../lib/checks/judging/lock_files.ts";
import { movedDependencies, oldManifest } from "../../../lib/checks/judging/old_manifest.ts";
import { changesOf, type Files } from "./judging_world.ts";

const SCRIPTS = (scripts: Readonly<Record<string, string>>): string => JSON.stringify({ scripts });

const ROWS: readonly (readonly [
  name: string,
  checks: readonly string[],
  before: Files,
  after: Files,
  changes: readonly string[],
])[] = [
  ["a changed test", ["npm test"], { "test/a.test.mjs": "1" }, { "test/a.test.mjs": "2" }, ["test/a.test.mjs"]],
  ["a deleted test", ["true"], { "pkg/a_test.go": "1" }, {}, ["pkg/a_test.go"]],
  ["a renamed test", ["true"], { "a.spec.ts": "1" }, { "a.spec.ts.txt": "1" }, ["a.spec.ts"]],
  ["a helper", ["node test/a.mjs"], { "support/assert.mjs": "1" }, { "support/assert.mjs": "2" }, [
    "support/assert.mjs",
  ]],
  ["a mock", ["true"], { "src/__mocks__/api.js": "1" }, { "src/__mocks__/api.js": "2" }, ["src/__mocks__/api.js"]],
  ["Go's testdata", ["true"], { "pkg/testdata/want.json": "1" }, { "pkg/testdata/want.json": "2" }, [
    "pkg/testdata/want.json",
  ]],
  ["a script", ["sh scripts/check.sh"], { "scripts/check.sh": "a" }, { "scripts/check.sh": "exit 0" }, [
    "scripts/check.sh",
  ]],
  ["a test outside of the globs", ["node checks/a.mjs"], { "checks/a.mjs": "1" }, { "checks/a.mjs": "2" }, [
    "checks/a.mjs",
  ]],
  ["code is no judge", ["npm test"], { "src/a.mjs": "1", "test/a.test.mjs": "1" }, {
    "src/a.mjs": "2",
    "test/a.test.mjs": "1",
  }, []],
  [
    "a new test stays",
    ["npm test"],
    { "test/a.test.mjs": "1" },
    { "test/a.test.mjs": "1", "test/b.test.mjs": "1" },
    [],
  ],
  ["a new .npmrc", ["npm test"], { "test/a.test.mjs": "1" }, {
    "test/a.test.mjs": "1",
    ".npmrc": "script-shell=/bin/true",
  }, ["-.npmrc"]],
  ["what make is asked to make is there already", ["make t"], { Makefile: "t: .ok\n.ok:\n\tsh t.sh && touch .ok\n" }, {
    Makefile: "t: .ok\n.ok:\n\tsh t.sh && touch .ok\n",
    "t/README.md": "",
    ".ok": "",
  }, ["?-.ok", "?-t/README.md"]],
  ["a folder that make does not look at", ["make t"], { Makefile: ".PHONY: t\nt: src/b\n\tsh t.sh\n" }, {
    Makefile: ".PHONY: t\nt: src/b\n\tsh t.sh\n",
    "t/README.md": "",
    "src/b": "",
  }, []],
  ["a compiler's memory", ["npx tsc"], { "package.json": "{}", "tsconfig.tsbuildinfo": "1" }, {
    "package.json": "{}",
    "tsconfig.tsbuildinfo": "2",
    ".turbo/cache/1": "",
  }, ["?-.turbo/cache/1", "?tsconfig.tsbuildinfo"]],
  ["a new manifest with a runner's section", ["npx jest"], { "test/a.test.js": "" }, {
    "test/a.test.js": "",
    "package.json": '{"name":"a","jest":{"testMatch":[]}}',
  }, ['?package.json: {\n  "name": "a"\n}\n']],
  ["a new manifest without one", ["npx jest"], { "test/a.test.js": "" }, {
    "test/a.test.js": "",
    "package.json": '{"name":"a","scripts":{"test":"jest"}}',
  }, []],
  ["a new entry by the name of what a check starts", ["npx mini"], { "package.json": '{"name":"a"}' }, {
    "package.json": '{"name":"a","mini":{},"mine":{}}',
  }, ['?package.json: {\n  "name": "a",\n  "mine": {}\n}\n']],
  ["tests that cargo no longer finds", ["cargo test"], { "Cargo.toml": '[package]\nname = "a"\n' }, {
    "Cargo.toml": '[package]\nname = "a"\nautotests = false\n',
  }, ['?Cargo.toml: [package]\nname = "a"\n']],
  ["a new GNUmakefile", ["make t"], { Makefile: "t:\n\tsh t.sh\n" }, {
    Makefile: "t:\n\tsh t.sh\n",
    GNUmakefile: "t:\n",
  }, ["-GNUmakefile"]],
  ["a false program", ["npm test"], { "package.json": SCRIPTS({ test: "node t.mjs" }), "t.mjs": "" }, {
    "package.json": SCRIPTS({ test: "node t.mjs" }),
    "t.mjs": "",
    "node_modules/.bin/node": "#!/bin/sh",
  }, ["-node_modules/.bin/node"]],
  ["a false module", ["python3 checks/a.py"], { "checks/a.py": "" }, { "checks/a.py": "", "checks/json.py": "" }, [
    "-checks/json.py",
  ]],
  ["a false package", ["python -m pytest"], { "tests/test_a.py": "" }, {
    "tests/test_a.py": "",
    "pytest/__init__.py": "",
  }, ["-pytest/__init__.py"]],
  ["a new conftest.py", ["pytest"], { "tests/test_a.py": "" }, { "tests/test_a.py": "", "conftest.py": "" }, [
    "-conftest.py",
  ]],
  ["a path file", ["pytest"], { "tests/test_a.py": "" }, { "tests/test_a.py": "", "lib/x.pth": "" }, ["-lib/x.pth"]],
  ["code that is called like a module, elsewhere", ["pytest"], { "tests/test_a.py": "" }, {
    "tests/test_a.py": "",
    "app/json.py": "",
  }, []],
  ["a project's first tests and their runner", ["npx vitest"], { "README.md": "" }, {
    "README.md": "",
    "vitest.config.ts": "",
    "a.test.ts": "",
  }, []],
  ["a runner's configuration", ["npx vitest"], { "vitest.config.ts": "1" }, { "vitest.config.ts": "2" }, [
    "vitest.config.ts",
  ]],
  ["a linter's configuration may be the work", ["npx eslint src"], { "eslint.config.js": "1", ".flake8": "1" }, {
    "eslint.config.js": "2",
    ".flake8": "1",
    "ruff.toml": "1",
  }, ["?-ruff.toml", "?eslint.config.js"]],
  ["a script beside the root", ["sh ../../tools/check.sh"], { "../../tools/check.sh": "1" }, {
    "../../tools/check.sh": "2",
  }, ["../../tools/check.sh"]],
  ["what other projects of the repository judge is theirs", ["npm test"], {
    "test/a.test.mjs": "1",
    "../other/test/b.test.mjs": "1",
    "../other/package.json": SCRIPTS({ test: "b" }),
    "../vitest.config.ts": "1",
  }, {
    "test/a.test.mjs": "1",
    "../other/test/b.test.mjs": "2",
    "../other/package.json": SCRIPTS({ test: "c" }),
    "../other/.npmrc": "2",
    "../vitest.config.ts": "2",
  }, ["../vitest.config.ts"]],
  ["settings by a program's name", ["npx mini"], { "mini.config.json": "1", ".minirc": "1", "mono.json": "1" }, {
    "mini.config.json": "2",
    ".minirc": "2",
    "mono.json": "2",
    "mini.toml": "2",
  }, ["?-mini.toml", "?.minirc", "?mini.config.json"]],
  ["a list that is fed to a shell", ["cat suites | xargs -n1 sh"], { suites: "a" }, { suites: "b" }, ["suites"]],
  ["a product that is fed to a shell", ["cat src/a.sh | sh -s 2"], { "src/a.sh": "a" }, { "src/a.sh": "b" }, []],
  ["what is searched", ["cat out/log | grep -q ok"], { "out/log": "a" }, { "out/log": "b" }, []],
  ["a false module on a path that the check sets", ["PYTHONPATH=src python3 -m unittest"], {
    "src/a.py": "",
    "test_a.py": "",
  }, {
    "src/a.py": "",
    "test_a.py": "",
    "src/unittest.py": "",
  }, ["?-src/unittest.py"]],
  ["a new test that ends the others' process", ["python3 -m unittest discover tests"], { "tests/test_a.py": "" }, {
    "tests/test_a.py": "",
    "tests/test_0.py": "import os\nos._exit(0)\n",
    "tests/test_b.py": "import unittest\n",
  }, ["?-tests/test_0.py"]],
  ["a new test that the check names is the work", ["python3 tests/test_b.py"], { "tests/test_a.py": "" }, {
    "tests/test_a.py": "",
    "tests/test_b.py": "import sys\nsys.exit(1)\n",
  }, []],
  ["a mock that is loaded by its name", ["npx jest"], { "a.test.js": "" }, {
    "a.test.js": "",
    "__mocks__/fs.js": "x",
  }, ["?-__mocks__/fs.js"]],
  [
    "a vendored runner's inner file",
    ["vendor/bats/bin/bats test"],
    {
      "vendor/bats/bin/bats": "#!/bin/sh",
      "vendor/bats/lib/core": "1",
      "vendor/other/x": "1",
    },
    { "vendor/bats/bin/bats": "#!/bin/sh", "vendor/bats/lib/core": "2", "vendor/other/x": "2" },
    [
      "?vendor/bats/lib/core",
    ],
  ],
  ["a plugin that is found by its metadata", ["pytest"], { "test_a.py": "" }, {
    "test_a.py": "",
    "x.egg-info/entry_points.txt": "",
  }, ["-x.egg-info/entry_points.txt"]],
  ["what RSpec loads by itself", ["rspec"], { "spec/spec_helper.rb": "1" }, { "spec/spec_helper.rb": "2" }, [
    "spec/spec_helper.rb",
  ]],
  ["a new tsconfig.json stays", ["tsc"], { "a.test.ts": "1" }, { "a.test.ts": "1", "tsconfig.json": "" }, []],
  [
    "scripts as they were, dependencies as they are",
    ["npm test"],
    { "package.json": SCRIPTS({ test: "node a.mjs" }) },
    {
      "package.json": '{"scripts":{"test":"true","pretest":"x","lint":"y"},"jest":{"bail":1},"dependencies":{"a":"1"}}',
    },
    [`package.json: ${
      JSON.stringify({ scripts: { test: "node a.mjs", lint: "y" }, dependencies: { a: "1" } }, null, 2)
    }\n`],
  ],
  ["data that a test reads", ["node test/a.mjs"], { "test/a.mjs": 'read("data/want.txt")', "data/want.txt": "1" }, {
    "test/a.mjs": 'read("data/want.txt")',
    "data/want.txt": "2",
  }, ["?data/want.txt"]],
  [
    "data that a test reads by parts of its path",
    ["true"],
    {
      "tests/test_a.py": 'open(here / "data" / "want.json")',
      "data/want.json": "1",
    },
    { "tests/test_a.py": 'open(here / "data" / "want.json")', "data/want.json": "2" },
    ["?data/want.json"],
  ],
  ["data by way of a script between", ["node checks/a.mjs"], {
    "checks/a.mjs": 'run("tools/b.sh")',
    "tools/b.sh": "cat wanted/a.txt",
    "wanted/a.txt": "1",
  }, {
    "checks/a.mjs": 'run("tools/b.sh")',
    "tools/b.sh": "cat wanted/a.txt",
    "wanted/a.txt": "2",
  }, []],
  [
    "data by way of a script beside the checker",
    ["node checks/a.mjs"],
    {
      "checks/a.mjs": 'run("b.sh")',
      "checks/b.sh": "cat wanted/a.txt",
      "wanted/a.txt": "1",
    },
    { "checks/a.mjs": 'run("b.sh")', "checks/b.sh": "cat wanted/a.txt", "wanted/a.txt": "2" },
    [
      "?wanted/a.txt",
    ],
  ],
  ["the product's own data and code are no judges", ["node test/a.mjs"], {
    "test/a.mjs": 'import "../calc/add.mjs"; read("src/a.json"); read("calc/b.json"); run("cli/main.mjs")',
    "calc/add.mjs": "1",
    "calc/b.json": "1",
    "cli/main.mjs": "1",
    "src/a.json": "1",
    "README.md": "1",
  }, {
    "test/a.mjs": 'import "../calc/add.mjs"; read("src/a.json"); read("calc/b.json"); run("cli/main.mjs")',
    "calc/add.mjs": "2",
    "calc/b.json": "2",
    "cli/main.mjs": "2",
    "src/a.json": "2",
    "README.md": "2",
  }, []],
  ["what a checker imports from its own folder", ["node checks/a.mjs"], {
    "checks/a.mjs": 'import "./cases/b.mjs"; import "../calc/c.mjs";',
    "checks/cases/b.mjs": "1",
    "calc/c.mjs": "1",
  }, {
    "checks/a.mjs": 'import "./cases/b.mjs"; import "../calc/c.mjs";',
    "checks/cases/b.mjs": "2",
    "calc/c.mjs": "2",
  }, ["?checks/cases/b.mjs"]],
  [
    "a file that a script includes where it is there",
    ["sh checks/a.sh"],
    {
      "checks/a.sh": "[ ! -f env.sh ] || . ./env.sh",
    },
    { "checks/a.sh": "[ ! -f env.sh ] || . ./env.sh", "env.sh": "exit 0" },
    ["-env.sh"],
  ],
  ["a first file of the tests' package", ["pytest"], { "tests/test_a.py": "" }, {
    "tests/test_a.py": "",
    "tests/__init__.py": "import unittest",
  }, ["?-tests/__init__.py"]],
  ["a module of the standard library that a test imports", ["pytest"], { "tests/test_a.py": "import statistics" }, {
    "tests/test_a.py": "import statistics",
    "statistics.py": "",
    "calendar.py": "",
  }, ["-statistics.py"]],
  ["a module that the tests wait for", ["pytest"], { "tests/test_a.py": "from calc import add" }, {
    "tests/test_a.py": "from calc import add",
    "calc.py": "",
  }, []],
  ["an installed package that git has", ["npm test"], { "a.test.mjs": "", "node_modules/x/i.js": "1" }, {
    "a.test.mjs": "",
    "node_modules/x/i.js": "2",
    "test/node_modules/y/i.js": "1",
  }, ["-test/node_modules/y/i.js", "node_modules/x/i.js"]],
  ["which packages are tested", ["npm test -ws"], { "package.json": '{"workspaces":["a","b"],"version":"1"}' }, {
    "package.json": '{"workspaces":["a"],"version":"2"}',
  }, [`package.json: ${JSON.stringify({ workspaces: ["a", "b"], version: "2" }, null, 2)}\n`]],
  ["a new workspace is no change", ["npm test -ws"], { "package.json": '{"workspaces":["a"]}' }, {
    "package.json": '{"workspaces":["a","b"]}',
  }, []],
  ["data beside what a test imports", ["python3 test/test_a.py"], {
    "test/test_a.py": 'import json, calc as c\nopen("calc/data.json")',
    "calc/__init__.py": "",
    "calc/data.json": "1",
  }, {
    "test/test_a.py": 'import json, calc as c\nopen("calc/data.json")',
    "calc/__init__.py": "",
    "calc/data.json": "2",
  }, []],
  ["a new script is no change", ["npm test"], { "package.json": SCRIPTS({ test: "a" }) }, {
    "package.json": SCRIPTS({ lint: "b", test: "a" }),
  }, []],
];

describe("judgingChanges()", () => {
  test.each(ROWS)("%s", async (_, checks, before, after, changes) => {
    expect(await changesOf(checks, before, after)).toEqual(changes);
  });

  test("what the item's text names is no judge, unless a glob names it", async () => {
    const before = { "cli.mjs": "1", "test/a.mjs": "1" };
    const after = { "cli.mjs": "2", "test/a.mjs": "2" };

    expect(await changesOf(["node cli.mjs", "node test/a.mjs"], before, after, () => true)).toEqual(["test/a.mjs"]);
  });
});

describe("namesPath()", () => {
  test.each([
    ["Change src/cli.mjs so that", "src/cli.mjs", true],
    ["Change `cli.mjs`.", "src/cli.mjs", true],
    ["Change ./src/cli.mjs, please", "src/cli.mjs", true],
    ["Change mycli.mjs", "src/cli.mjs", false],
    ["Change other/cli.mjs", "src/cli.mjs", false],
    ["check everything", "scripts/check", false],
  ])("%s: %s is %s", (text, path, expected) => {
    expect(namesPath(text, path)).toBe(expected);
  });
});

describe("oldManifest()", () => {
  test("a Makefile has its old rules and variables, and new rules that change none of them", () => {
    const before = "RUN = sh\n\ntest:\n\t$(RUN) t.sh\n";
    const after = "RUN = true\nSHELL = /bin/true\nNEW = 1\n\ntest:\n\ttrue\n\nlint:\n\tx $(NEW)\n";

    expect(oldManifest("Makefile", before, after)).toBe(
      "RUN = sh\n\ntest:\n\t$(RUN) t.sh\n\nNEW = 1\nlint:\n\tx $(NEW)\n",
    );
  });

  test.each([
    ["export NODE_OPTIONS := --import=./fine.mjs"],
    ["test: SHELL = /bin/true"],
    ["now := $(shell echo true > t.sh)"],
  ])("a Makefile has no new line that changes how recipes run: %s", (line) => {
    const before = "test:\n\tsh t.sh\n";

    expect(oldManifest("Makefile", before, `${line}\n${before}`)).toBe(before);
  });

  test("sections of runners are known however they are spelled", () => {
    const before = '[tool]\npytest.ini_options.addopts = "-q"\n';
    const after = '[tool]\npytest.ini_options.addopts = "--co"\n';

    expect(oldManifest("pyproject.toml", before, after)).toBe(before);
    expect(oldManifest("pyproject.toml", "", '[ "tool" . pytest ]\naddopts = "--co"\n')).toBe("");
  });

  test("what may decide is old where that is asked for: unknown entries, sections of linters", () => {
    const others = { withOthers: true };
    const text = (cases: string, main: string): string => JSON.stringify({ config: { cases }, main });
    expect(JSON.parse(oldManifest("package.json", text("a", "a"), text("b", "b"), others))).toEqual({
      config: { cases: "a" },
      main: "b",
    });
    expect(oldManifest("package.json", text("a", "a"), text("b", "b"))).toBe(text("b", "b"));
    expect(oldManifest("pyproject.toml", "", '[tool.ruff]\nexclude = ["src"]\n', others)).toBe("");
  });

  test("sections of runners in pyproject.toml are the old ones", () => {
    const before = '[project]\nname = "a"\n\n[tool.pytest.ini_options]\naddopts = "-q"\n';
    const after =
      '[project]\nname = "b"\n\n[tool.pytest.ini_options]\naddopts = "--co"\n\n[tool.ruff]\nline-length = 1\n';

    expect(oldManifest("pyproject.toml", before, after)).toBe(
      '[project]\nname = "b"\n\n[tool.ruff]\nline-length = 1\n\n[tool.pytest.ini_options]\naddopts = "-q"\n',
    );
    expect(oldManifest("pyproject.toml", before, before.replace('"a"', '"b"'))).toBe(before.replace('"a"', '"b"'));
  });
});

test("movedDependencies() knows Deno's imports", () => {
  const text = (source: string): string => JSON.stringify({ imports: { "@std/assert": source } });

  expect(movedDependencies("deno.json", text("jsr:@std/assert@1"), text("./fake.ts"))).toEqual([
    "@std/assert: ./fake.ts",
  ]);
});

test("movedDependencies() knows the names of a package's own modules, by condition too", () => {
  const text = (source: string): string => JSON.stringify({ imports: { "#assert": { default: source } } });

  expect(movedDependencies("package.json", text("./qa/assert.js"), text("./src/lax.js"))).toEqual([
    '#assert: {"default":"./src/lax.js"}',
  ]);
});

const [ONE, OTHER] = ["1".repeat(64), "2".repeat(64)];

test.each([
  [
    "package-lock.json",
    (pin: string) =>
      JSON.stringify({ packages: { "node_modules/a": { version: "1.0.0", integrity: `sha512-${pin}` } } }),
    "a 1.0.0: other content",
  ],
  [
    "yarn.lock",
    (pin: string) => `# yarn\n\n"a@^1.0.0":\n  version "1.0.0"\n  integrity sha512-${pin}\n`,
    "a@^1.0.0 1.0.0: other content",
  ],
  [
    "pnpm-lock.yaml",
    (pin: string) => `packages:\n\n  a@1.0.0:\n    resolution: {integrity: sha512-${pin}}\n`,
    "a@1.0.0: other content",
  ],
  [
    "Cargo.lock",
    (pin: string) => `version = 4\n\n[[package]]\nname = "a"\nversion = "1.0.0"\nchecksum = "${pin}"\n`,
    "a 1.0.0: other content",
  ],
  [
    "uv.lock",
    (pin: string) => `[[package]]\nname = "a"\nversion = "1.0.0"\nsdist = { url = "x", hash = "sha256:${pin}" }\n`,
    "a 1.0.0: other content",
  ],
  ["go.sum", (pin: string) => `example.org/a v1.0.0 h1:${pin}=\n`, "example.org/a v1.0.0: other content"],
])("movedPackages() names the same version with another content in %s", (path, text, expected) => {
  expect(movedPackages(path, text(ONE), text(OTHER))).toEqual([expected]);
  expect(movedPackages(path, text(ONE), text(ONE))).toEqual([]);
  expect(movedPackages(path, text(ONE), text(OTHER).replaceAll("1.0.0", "1.0.1"))).toEqual([]);
});

test("movedPackages() names what npm now takes from elsewhere, in whichever version", () => {
  const text = (entry: object): string => JSON.stringify({ packages: { "node_modules/a": entry } });
  const before = text({ version: "1.0.0", resolved: "https://example.org/a-1.0.0.tgz", integrity: "sha512-1" });
  const local = text({ version: "1.0.1", resolved: "file:a.tgz", integrity: "sha512-2" });
  const link = text({ resolved: "src/a", link: true });

  expect(movedPackages("package-lock.json", before, local)).toEqual(["a 1.0.1: file:a.tgz"]);
  expect(movedPackages("package-lock.json", before, link)).toEqual(["a: src/a"]);
  expect(movedPackages("package-lock.json", link, link)).toEqual([]);
  expect(movedPackages("package-lock.json", text({}), before)).toEqual([]);
  expect(movedPackages("package-lock.json", "{}", link)).toEqual([]);
});

test.each([
  ["go.mod", "require example.org/a v1.0.0\n", "replace example.org/a => ./fake\n"],
  ["requirements.txt", "pytest==8\n", "pytest @ file:./fake\n"],
  ["Cargo.toml", '[dev-dependencies]\nproptest = "1"\n', 'proptest = { path = "fake" }\n'],
])("movedPackages() names what comes from a folder in %s", (path, before, line) => {
  expect(movedPackages(path, before, before + line)).toEqual([`${line.trim()} (${path})`]);
  expect(movedPackages(path, before, `${before}# a comment\n`)).toEqual([]);
  expect(movedPackages(path, "", line)).toEqual([]);
});

test("movedDependencies() names those that no registry gives any more", () => {
  const text = (a: string, b: string): string => JSON.stringify({ dependencies: { a }, devDependencies: { b } });

  expect(movedDependencies("package.json", text("1", "1"), text("file:x", "2"))).toEqual(["a: file:x"]);
  expect(movedDependencies("package.json", "{}", text("file:x", "git+ssh://x"))).toEqual([]);
  expect(movedDependencies("package.json", text("1", "1"), text("npm:x@1", "1"))).toEqual(["a: npm:x@1"]);
});
