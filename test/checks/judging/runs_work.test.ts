import { describe, expect, test } from "vitest";
import { changesOf } from "./judging_world.ts";

const TESTS = { "test/a.test.mjs": "1" };
const SOURCES = ["src/cli.mjs", "src/check.mjs", "src/gate.mjs", "bin/build.sh", "src/a.sh"];

const ROWS: readonly (readonly [name: string, checks: readonly string[], changed: readonly string[]])[] = [
  ["a program beside a test", ["node src/cli.mjs && node test/a.test.mjs"], []],
  ["a program in a loop with a test", ["for f in src/cli.mjs test/a.test.mjs; do node $f; done"], []],
  ["a script beside a runner", ["sh src/a.sh; npx vitest run"], []],
  ["a program by itself: where it fails as it was", ["node src/cli.mjs"], ["?src/cli.mjs"]],
  ["a program beside the test of another check", ["node src/cli.mjs", "node test/a.test.mjs"], ["?src/cli.mjs"]],
  ["a checker beside a test", ["node src/check.mjs && node test/a.test.mjs"], ["?src/check.mjs"]],
  ["a program that is given a test", ["node src/cli.mjs test/a.test.mjs"], ["?src/cli.mjs"]],
  ["a program that is given data", ["node src/cli.mjs test/fixtures/a.json && node test/a.test.mjs"], []],
  ["a program that decides whether a test runs", ["node src/gate.mjs || node test/a.test.mjs"], ["?src/gate.mjs"]],
  ["a script that makes something first", ["bin/build.sh && node test/a.test.mjs"], ["?bin/build.sh"]],
  ["what is read into the shell", [". src/a.sh && node test/a.test.mjs"], ["?src/a.sh"]],
];

describe("what a check runs and a test judges", () => {
  test.each(ROWS)("%s", async (_, checks, changed) => {
    const files = (text: string) => Object.fromEntries(SOURCES.map((path) => [path, text]));
    const before = { ...TESTS, "test/fixtures/a.json": "1", ...files("1") };
    expect(await changesOf(checks, before, { ...before, ...files("2") })).toEqual(changed);
  });

  test("judges itself where the checks have written files of the commit", async () => {
    const before = { ...TESTS, "src/cli.mjs": "1" };
    const after = { ...TESTS, "src/cli.mjs": "2" };
    const checks = ["node src/cli.mjs && node test/a.test.mjs"];
    expect(await changesOf(checks, before, after, undefined, true)).toEqual(["?src/cli.mjs"]);
  });
});
