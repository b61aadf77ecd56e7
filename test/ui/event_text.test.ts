import { describe, expect, test } from "vitest";
import { dollars } from "../../lib/ui/text.ts";
import { excerptLines } from "../../lib/ui/event_lines.ts";

const filler = (count: number, word: string): string =>
  Array.from({ length: count }, (_, at) => `${word} ${at}`).join("\n");

const TAP = `    not ok 1 - adds
      ---
      duration_ms: 4.5
      location: 'a.test.js:4:26'
      failureType: 'testCodeFailure'
      error: '8 == 2'
      code: 'ERR_ASSERTION'
      stack: |-
        TestContext.<anonymous> (file:///a.test.js:4:52)
        Test.run (node:internal/test_runner/test:796:25)
        node:internal/process/task_queues:140:7
      ...
    1..1
not ok 2 - math
  ---
  type: 'suite'
  failureType: 'subtestsFailed'
  ...
# tests 2`;
const SPEC = `✖ failing tests:

test at a.test.js:4:26
✖ adds (3ms)
  AssertionError: 8 == 2
      at TestContext.<anonymous> (file:///a.test.js:4:52)
npm error code 1`;
const PYTEST = `____ test_add ____

    def test_add():
>       assert 3 == 4
E       assert 3 == 4

a.py:6: AssertionError
==== short test summary info ====`;
const JEST = `  ● math › adds

    Expected: 4
    Received: 3

      3 | test("adds", () => {
    > 4 |   sum(1, 2)
        |   ^

      at Object.toBe (sum.test.js:4:23)
`;
const VITEST = ` FAIL  a.test.ts > adds
AssertionError: expected 2 to be 3
 ❯ a.test.ts:2:36
      1| import { test } from "vitest";
       |     ^
⎯⎯⎯⎯`;
const CARGO = `---- adds stdout ----
thread 'adds' panicked at src/lib.rs:9:9:
  left: 3
 right: 4
note: run with \`RUST_BACKTRACE=1\` to display a backtrace

failures:
    adds`;
const GO = `--- FAIL: TestAdd (0.00s)
    --- FAIL: TestAdd/one (0.00s)
        a_test.go:11: got 3, want 4
=== RUN   TestB
--- PASS: TestB (0.00s)`;

describe("excerptLines()", () => {
  test.each([
    ["a script", "Error: it is not there", "  expected: 1.01", "done in 12 s"],
    [
      "pytest's own summary",
      "E       AssertionError: assert 1 == 2",
      "    def test_a():",
      "== 1 failed, 40 passed in 0.1s ==",
    ],
    ["a compiler", "src/a.ts(1,2): error TS2322: wrong", "  help: write it", "make: *** [all] Error 2"],
  ])("%s: the reason and the end, however much is between them", (_, reason, beside, last) => {
    const text = [filler(30, "ok"), reason, beside, filler(50, "suite"), last].join("\n");
    const lines = excerptLines(text, 12);

    expect(lines).toContain(reason);
    expect(lines).toContain(beside);
    expect(lines.at(-1)).toBe(last);
    expect(lines.filter((line) => line !== "…")).toHaveLength(12);
  });

  test.each([
    ["node --test, TAP", TAP, [
      "    not ok 1 - adds",
      "      location: 'a.test.js:4:26'",
      "      error: '8 == 2'",
    ]],
    ["node --test", SPEC, ["✖ failing tests:", "test at a.test.js:4:26", "✖ adds (3ms)", "  AssertionError: 8 == 2"]],
    ["pytest", PYTEST, [
      "____ test_add ____",
      ">       assert 3 == 4",
      "E       assert 3 == 4",
      "a.py:6: AssertionError",
    ]],
    ["jest", JEST, ["  ● math › adds", "    Expected: 4", "    Received: 3", "    > 4 |   sum(1, 2)"]],
    ["vitest", VITEST, [" FAIL  a.test.ts > adds", "AssertionError: expected 2 to be 3", " ❯ a.test.ts:2:36"]],
    ["cargo", CARGO, ["---- adds stdout ----", "thread 'adds' panicked at src/lib.rs:9:9:", "  left: 3", " right: 4"]],
    ["rustc", "error[E0308]: mismatched types\n --> src/lib.rs:2:5\n  |\n2 |     a\n  |     ^\n\n", [
      "error[E0308]: mismatched types",
      " --> src/lib.rs:2:5",
      "2 |     a",
      "  |     ^",
    ]],
    ["go", GO, [
      "--- FAIL: TestAdd (0.00s)",
      "    --- FAIL: TestAdd/one (0.00s)",
      "        a_test.go:11: got 3, want 4",
    ]],
  ])("%s: the failure alone, without stack, parents and summary", (_, failure, shown) => {
    const text = [filler(30, "fine"), failure, filler(30, "summary")].join("\n");

    expect(excerptLines(text, 12)).toEqual(shown);
    expect(excerptLines(text, 2)).toEqual([shown[0], "…"]);
  });

  test("no reason in the text, or `0 failed`: the last lines", () => {
    const text = `0 failed\n${filler(40, "line")}`;

    expect(excerptLines(text, 3)).toEqual(["line 37", "line 38", "line 39"]);
    expect(excerptLines("one\ntwo\n", 12)).toEqual(["one", "two"]);
  });
});

test("dollars(): a part of a cent is not nothing", () => {
  expect([0, 0.001, 0.03, 12].map(dollars)).toEqual(["$0.00", "<$0.01", "$0.03", "$12.00"]);
});
