import { expect, test } from "vitest";
import { missingTool } from "../../lib/checks/missing_tool.ts";

test.each([
  ["pytest tests", 127, "bash: line 1: pytest: command not found", "pytest"],
  ["pytest tests", 127, "sh: 1: pytest: not found", "pytest"],
  ["npm test", 127, "> a@1.0.0 test\n> vitest run\n\nsh: 1: vitest: not found", "vitest"],
  ["python3 -m pytest -q", 1, "/usr/bin/python3: No module named pytest", "pytest"],
  [
    "cargo nextest run",
    101,
    "error: no such command: `nextest`\n\nhelp: a command with a similar name exists",
    "nextest",
  ],
  ["uv run pytest", 2, "error: Failed to spawn: `pytest`\n  Caused by: No such file", "pytest"],
  ["bundle exec rspec", 127, "bundler: command not found: rspec\nInstall missing gem executables", "rspec"],
  ["make lint", 2, "make: shellcheck: No such file or directory\nmake: *** [Makefile:2: lint] Error 127", "shellcheck"],
  // what runs and fails, and what the work may make
  ["python3 -m pytest -q", 1, "E   ModuleNotFoundError: No module named 'calc'", null],
  ["pytest", 2, "ImportError while importing test module\nE   No module named 'requests'", null],
  ["./check.sh", 127, "bash: line 1: ./check.sh: No such file or directory", null],
  ["sh test/run.sh", 1, "test/run.sh: 3: curl: not found\n1 failed", null],
  ["npm test", 1, "AssertionError: expected 404 'page: not found'", null],
])("missingTool(%j, exit %d) of %j is %j", (name, exitCode, tail, tool) => {
  expect(missingTool({ name, exitCode, tail, ok: false })).toBe(tool);
});
