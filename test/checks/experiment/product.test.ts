import picomatch from "picomatch";
import { expect, it } from "vitest";
import { defaultConfig } from "ralph";
import { type FileKind, importsPath, kindOf, publishedBy } from "../../../lib/checks/experiment/product.ts";

const files = {
  commands: ["sh scripts/check.sh", "npm test", "grep -q TEN list.txt", "sh run.sh | grep x", "grep a tool.ini"],
  isTest: picomatch([...defaultConfig().tests.globs], { dot: true }),
  published: new Set(["tools/cli.mjs"]),
  isSubject: (path: string) => path === "scripts/deploy.sh" || path === "eslint.config.mjs",
};

it.each<[FileKind, readonly string[]]>([
  ["product", ["src/a.ts", "calc.py", "lib/helpers/format.js", "src/spec/parse.ts", "README.md", "cmd/main.go"]],
  ["product", ["index.html", "src/config.yaml", "tools/cli.mjs", "scripts/deploy.sh", "eslint.config.mjs"]],
  ["product", ["src/file-lock.mjs", "queue.lock.py", "src/setup.py"]],
  ["test", [
    "checks/add.sh",
    "check/a.py",
    "test/a.test.ts",
    "calc_test.go",
    "tests/conftest.py",
    "spec/a_spec.rb",
    "test/fixtures/a.json",
  ]],
  ["manifest", ["package.json", "sub/pyproject.toml", "Cargo.toml"]],
  ["lock", ["package-lock.json", "uv.lock", "go.sum", "pnpm-lock.yaml"]],
  ["judge", ["Makefile", "conftest.py", ".npmrc", ".github/workflows/ci.yml", "vitest.config.ts", "scripts/check.sh"]],
  ["judge", ["pytest.ini", "build.rs", ".rspec-local", ".offline", "data.json"]],
  ["product", ["list.txt", "run.sh", "tool.ini"]],
])("%s: %j", (kind, paths) => {
  for (const path of paths) expect([path, kindOf(path, files)]).toEqual([path, kind]);
});

it("a manifest's main, bin and exports are product wherever they are", () => {
  const manifest = { main: "./index.js", bin: { a: "tools/a.mjs" }, exports: { ".": { import: "./b.mjs" } } };
  expect(publishedBy(Object.values(manifest))).toEqual(["index.js", "tools/a.mjs", "b.mjs"]);
});

it.each<[boolean, string, string]>([
  [true, 'import { build } from "../src/build.mjs";', "src/build.mjs"],
  [true, 'import { build } from "../src/build";', "src/build.ts"],
  [true, "const { build } = require('../scripts/build');", "scripts/build.js"],
  [true, "from app.tasks import send", "app/tasks.py"],
  [true, "    import tasks", "tasks.py"],
  [true, "from app import models, tasks", "app/tasks.py"],
  [false, 'import { build } from "vite";', "build.mjs"],
  [false, 'run("node scripts/build.mjs");', "scripts/build.mjs"],
  [false, "from conftest import client", "conftest.py"],
  [false, 'import "../vitest.setup.ts";', "vitest.setup.ts"],
  [false, "from app import subtasks", "app/tasks.py"],
])("%s: %j imports %s", (is, text, path) => {
  expect(importsPath(text, path)).toBe(is);
});
