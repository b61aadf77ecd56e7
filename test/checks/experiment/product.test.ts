import picomatch from "picomatch";
import { expect, it } from "vitest";
import { defaultConfig } from "ralph";
import { type FileKind, kindOf, publishedBy } from "../../../lib/checks/experiment/product.ts";

const files = {
  commands: ["sh scripts/check.sh", "npm test", "grep -q TEN list.txt", "sh run.sh | grep x", "grep a tool.ini"],
  isTest: picomatch([...defaultConfig().tests.globs], { dot: true }),
  published: new Set(["tools/cli.mjs"]),
  isSubject: (path: string) => path === "scripts/deploy.sh" || path === "eslint.config.mjs",
};

it.each<[FileKind, readonly string[]]>([
  ["product", ["src/a.ts", "calc.py", "lib/helpers/format.js", "src/spec/parse.ts", "README.md", "cmd/main.go"]],
  ["product", ["index.html", "src/config.yaml", "tools/cli.mjs", "scripts/deploy.sh", "eslint.config.mjs"]],
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
