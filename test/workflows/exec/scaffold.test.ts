import { existsSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { withProgress } from "../../../lib/workflows/exec/backlog.ts";
import { scaffoldExec } from "../../../lib/workflows/exec/scaffold.ts";
import { suggestChecks } from "../../../lib/backlog/suggest_checks.ts";
import { testRepository } from "./exec_context.ts";

describe("scaffoldExec()", () => {
  test("scaffoldExec() makes what is missing, names it, and overwrites nothing", async () => {
    using repository = testRepository({ "scripts/ralph/codebase_map.md": "own\n" });

    const made = await scaffoldExec(repository.root);

    expect(made).toEqual(["scripts/ralph/progress.txt"]);
    expect(repository.read("scripts/ralph/codebase_map.md")).toBe("own\n");
    for (const path of made) expect(readFileSync(join(repository.root, path), "utf8").length).toBeGreaterThan(40);
    expect(await scaffoldExec(repository.root)).toEqual([]);
  });

  test("scaffoldExec() follows no link out of the root", async () => {
    using repository = testRepository();
    using elsewhere = testRepository();
    symlinkSync(elsewhere.root, join(repository.root, "scripts"));

    await expect(scaffoldExec(repository.root)).rejects.toMatchObject({ code: "path-outside-root", exitCode: 2 });

    expect(existsSync(join(elsewhere.root, "ralph"))).toBe(false);
  });
});

describe("withProgress()", () => {
  const entry = {
    attemptId: "run.3",
    date: "2026-01-17",
    storyId: "US-001",
    title: "T",
    result: "passed",
    detail: "npm test\nok",
  } as const;

  test("withProgress() adds one line an attempt and never doubles it", () => {
    const once = withProgress("# Log", entry);

    expect(once).toBe("# Log\n- 2026-01-17 US-001 T: passed, npm test ok (run.3)\n");
    expect(withProgress(once, entry)).toBe(once);
    expect(withProgress(`${once}\nby the agent\n`, entry)).toBe(`${once}\nby the agent\n`);
    expect(withProgress(null, { ...entry, attemptId: "run.4", detail: "" })).toBe(
      "- 2026-01-17 US-001 T: passed (run.4)\n",
    );
  });
});

describe("suggestChecks()", () => {
  test.each<[string, Readonly<Record<string, string>>, readonly string[]]>([
    ["nothing", {}, []],
    ["package.json", { "package.json": '{"scripts":{"build":"x","lint":"y","test":"z"}}' }, [
      "npm test",
      "npm run lint",
    ]],
    ["npm's own placeholder", {
      "package.json": '{"scripts":{"test":"echo \\"Error: no test specified\\" && exit 1"}}',
    }, []],
    ["scripts that check nothing", { "package.json": '{"scripts":{"test":"z","typecheck":"true","lint":"echo ok"}}' }, [
      "npm test",
    ]],
    ["pnpm", { "package.json": '{"scripts":{"test":"z"}}', "pnpm-lock.yaml": "" }, ["pnpm run test"]],
    ["a damaged package.json", { "package.json": "{" }, []],
    ["deno.json", { "deno.json": '{"tasks":{"check":"c"}}' }, ["deno task check"]],
    ["a Makefile", { Makefile: "X := 1\ntest: build\n\techo\nlint:\n" }, ["make test", "make lint"]],
    ["a justfile", { justfile: "test target='a':\n  echo\n" }, ["just test"]],
    ["pyproject.toml with uv", { "pyproject.toml": "[tool.pytest]\n[tool.ruff]\n", "uv.lock": "" }, [
      "uv run pytest",
      "uv run ruff check .",
    ]],
    ["go.mod and Cargo.toml", { "go.mod": "", "Cargo.toml": "" }, ["go test ./...", "cargo test"]],
    ["a package manager that package.json names", {
      "package.json": '{"scripts":{"test":"z"},"packageManager":"yarn@4.1.0"}',
    }, ["yarn run test"]],
    ["a package without `test`", { "package.json": '{"scripts":{"test:unit":"z","test:watch":"w"}}' }, [
      "npm run test:unit",
    ]],
    ["deno.jsonc without tasks", { "deno.jsonc": '{\n  // nothing\n  "lock": false\n}' }, ["deno test"]],
    ["a Taskfile", { "Taskfile.yml": "version: '3'\ntasks:\n  test:\n    cmds: [x]\n  build:\n    cmds: [y]\n" }, [
      "task test",
    ]],
    ["tox.ini and pytest", { "tox.ini": "[tox]\n[testenv]\ndeps = pytest\ncommands = pytest\n", "setup.py": "" }, [
      "python3 -m pytest",
      "tox",
    ]],
    ["unittest", { "setup.py": "", "tests/test_a.py": "" }, ["python3 -m unittest discover -s tests"]],
    ["unittest in a package", { "setup.py": "", "tests/__init__.py": "", "tests/test_a.py": "" }, [
      "python3 -m unittest discover -s tests -t .",
    ]],
    ["poetry", { "pyproject.toml": "[tool.poetry.dev-dependencies]\npytest = '*'\n", "poetry.lock": "" }, [
      "poetry run pytest",
    ]],
    ["Gradle with its wrapper", { "build.gradle.kts": "", gradlew: "" }, ["./gradlew test"]],
    ["Gradle", { "build.gradle": "" }, ["gradle test"]],
    ["Maven", { "pom.xml": "" }, ["mvn -q test"]],
    ["composer", { "composer.json": '{"scripts":{"test":"phpunit","phpstan":"p"}}' }, [
      "composer test",
      "composer phpstan",
    ]],
    ["PHPUnit alone", { "composer.json": '{"require-dev":{"phpunit/phpunit":"^9"}}', "phpunit.xml.dist": "" }, [
      "vendor/bin/phpunit",
    ]],
    ["rspec", { Gemfile: "", Rakefile: "", "spec/a_spec.rb": "" }, ["bundle exec rspec"]],
    ["rake", { Rakefile: "Rake::TestTask.new(:test)\n", "test/a_test.rb": "" }, ["rake test"]],
    ["dotnet", { "App.sln": "" }, ["dotnet test"]],
    ["CMake", { "CMakeLists.txt": "enable_testing()\n" }, [
      "cmake -B build && cmake --build build && ctest --test-dir build --output-on-failure",
    ]],
    ["autotools", { "configure.ac": "" }, ["autoreconf -i && ./configure && make check"]],
    ["Perl", { "Makefile.PL": "" }, ["perl Makefile.PL && make test"]],
    ["a shell test", { "test.sh": "true\n" }, ["sh test.sh"]],
  ])("suggestChecks() finds the commands of %s", async (_name, files, commands) => {
    using repository = testRepository(files);

    expect((await suggestChecks(repository.root)).map(({ command }) => command)).toEqual(commands);
  });
});
