import { describe, expect, test } from "vitest";
import { changedScripts } from "../../../lib/checks/integrity/check_scripts.ts";

const PACKAGE = { scripts: { test: "npm run unit", unit: "vitest run", lint: "oxlint", pretest: "npm run build" } };

function scripts(changed: Readonly<Record<string, string | undefined>>): string {
  return JSON.stringify({ name: "x", scripts: { ...PACKAGE.scripts, ...changed } });
}

const MAKE = "all: test\n\ntest: unit\n\t@echo done\n\nunit:\n\tgo test ./...\n\nlint:\n\tgolint\n";

describe("changedScripts()", () => {
  test.each([
    ["npm test", { test: "true" }, ["package.json: `test`, which the checks run, was `npm run unit` and is `true`"]],
    ["npm run -s test", { test: "true" }, [
      "package.json: `test`, which the checks run, was `npm run unit` and is `true`",
    ]],
    ["pnpm test", { unit: "true" }, ["package.json: `unit`, which the checks run, was `vitest run` and is `true`"]],
    ["cd app && yarn lint", { lint: "true" }, [
      "package.json: `lint`, which the checks run, was `oxlint` and is `true`",
    ]],
    ["bun run unit", { unit: undefined }, ["package.json: `unit`, which the checks run, was taken away"]],
    ["npm t", { pretest: "true" }, [
      "package.json: `pretest`, which the checks run, was `npm run build` and is `true`",
    ]],
    ["npm --prefix app test", { unit: ":" }, [
      "package.json: `unit`, which the checks run, was `vitest run` and is `:`",
    ]],
    ["npm test", { lint: "true" }, []],
    ["npm ci && npx vitest run", { test: "true", unit: "true" }, []],
    ["npm test", { fresh: "true" }, []],
    ["npm test", {}, []],
  ])("%s with %j", (command, changed, expected) => {
    const change = { path: "package.json", before: JSON.stringify(PACKAGE), after: scripts(changed) };

    expect(changedScripts([command], [change])).toEqual(expected);
  });

  test.each([
    ["make", "unit:\n\tgo test ./...", "unit:\n\ttrue", [
      "Makefile: `unit`, which the checks run, was `go test ./...` and is `true`",
    ]],
    ["make test", "test: unit", "test:", [
      "Makefile: `test`, which the checks run, was `unit; @echo done` and is `@echo done`",
    ]],
    ["make -j4 lint", "\tgolint", "\t:", ["Makefile: `lint`, which the checks run, was `golint` and is `:`"]],
    ["make test", "\tgolint", "\t:", []],
    ["cmake --build .", "\tgolint", "\t:", []],
  ])("%s with %j", (command, was, is, expected) => {
    const change = { path: "Makefile", before: MAKE, after: MAKE.replace(was, is) };

    expect(changedScripts([command], [change])).toEqual(expected);
  });

  test("a script that is new, or in a file that is new, is none", () => {
    expect(changedScripts(["npm test"], [{ path: "package.json", before: "{}", after: scripts({}) }])).toEqual([]);
    expect(changedScripts(["npm test"], [{ path: "package.json", before: null, after: scripts({}) }])).toEqual([]);
    expect(changedScripts(["npm test"], [{ path: "package.json", before: "{ torn", after: "{" }])).toEqual([]);
  });
});
