import process from "node:process";
import { describe, expect, test } from "vitest";
import { withOldTests } from "../../../lib/checks/experiment/inline_tests.ts";

const RUST = `//! Sums.
pub fn add(a: i32, b: i32) -> i32 { todo!("}") }

#[cfg(test)]
use std::{fmt, str};

#[cfg(test)]
mod tests {
    use super::*;
    // a brace: }
    #[test]
    fn adds<'a>() { let s: &'a str = "{"; assert_eq!(add(2, 3), 5); let c = '}'; }
}
`;
const RUST_STUB = `pub fn add(_: i32, _: i32) -> i32 { 0 }

#[cfg(test)]
mod tests {
    #[test]
    fn adds() {}
}

pub fn later() {}
`;
const DOCTEST = `def add(a, b):
    """Adds.

    >>> add(2, 3)
    5
    """
    raise NotImplementedError


if __name__ == "__main__":
    import doctest, sys
    sys.exit(doctest.testmod().failed)
`;

describe("tests inside of the files that they test", () => {
  test("Rust: the old modules stand in the place of the new ones, at the end", () => {
    const laid = withOldTests("src/lib.rs", RUST, RUST_STUB) ?? "";

    expect(laid).toContain("pub fn add(_: i32, _: i32) -> i32 { 0 }");
    expect(laid).toContain("pub fn later() {}");
    expect(laid).toContain("assert_eq!(add(2, 3), 5); let c = '}'; }\n}\n");
    expect(laid).toContain("#[cfg(test)]\nuse std::{fmt, str};\n");
    expect(laid.match(/mod tests/g)).toHaveLength(1);
    expect(laid).not.toContain("fn adds() {}");
    expect(laid).not.toMatch(/^;/m);
  });

  test("Rust: an example that is gone from the documentation is tried again", () => {
    const before = "/// Adds.\n///\n/// ```\n/// assert_eq!(a::add(2, 3), 5);\n/// ```\npub fn add() {}\n";

    const laid = withOldTests("src/lib.rs", before, "/// Adds.\npub fn add() {}\n");

    expect(laid).toContain(
      "/// ```\n/// assert_eq!(a::add(2, 3), 5);\n/// ```\n#[cfg(doctest)]\npub struct AsBefore0;",
    );
  });

  test("Python: an example that is gone is tried again, before the file runs its own", () => {
    const now = DOCTEST.replace(/ {4}"""[^]*"""\n {4}raise .*\n/, "    return 0\n");

    const laid = withOldTests("calc.py", DOCTEST, now) ?? "";

    expect(laid.indexOf(">>> add(2, 3)")).toBeGreaterThan(0);
    expect(laid.indexOf("__test__ =")).toBeLessThan(laid.indexOf("if __name__"));
  });

  test("Python: a case beside the code is the old one; what only has such a name is code", () => {
    const before =
      "import unittest\n\n\nclass TestBench:\n    size = 1\n\n\nclass Sums(unittest.TestCase):\n    def test_it(self):\n        self.assertEqual(1, 2)\n";
    const now = before.replace("size = 1", "size = 2").replace("(1, 2)", "(1, 1)");

    const laid = withOldTests("calc.py", before, now) ?? "";

    expect(laid).toContain("assertEqual(1, 2)");
    expect(laid).not.toContain("assertEqual(1, 1)");
    expect(laid).toContain("size = 2");
  });

  test("JavaScript: the block for vitest is the old one; a program's own start is code", () => {
    const before =
      "export const add = () => {};\nif (import.meta.vitest) {\n  const { it, expect } = import.meta.vitest;\n  it(`adds ${1}`, () => expect(add(2, 3), /[}]/).toBe(5));\n}\nif (import.meta.main) {\n  main();\n}\n";
    const now = "export const add = () => 0;\nif (import.meta.main) {\n  start();\n}\n";

    const laid = withOldTests("src/add.ts", before, now) ?? "";

    expect(laid).toContain("export const add = () => 0;");
    expect(laid).toContain("expect(add(2, 3), /[}]/).toBe(5));\n}");
    expect(laid).toContain("start();");
    expect(laid).not.toContain("main();");
  });

  test.each([
    ["code alone", "src/lib.rs", RUST, RUST.replace('todo!("}")', "a + b")],
    ["a file without tests", "src/a.py", "def add(): pass\n", "def add(): return 1\n"],
    ["a new test", "src/a.rs", "pub fn a() {}\n", "pub fn a() {}\n#[cfg(test)]\nmod tests {}\n"],
    ["another ending", "src/a.go", "// >>> a\n", "b\n"],
    ["a block that never ends", "src/a.rs", "#[cfg(test)]\nmod tests {\n", "x"],
  ])("nothing is laid for %s", (_, path, before, now) => {
    expect(withOldTests(path, before, now)).toBeNull();
  });

  test.each([
    [
      "a regular expression of classes that never ends",
      "a.ts",
      `if (import.meta.vitest) {\nx = /${"[a]".repeat(60)}\n`,
    ],
    ["white space before a slash", "a.ts", `if (import.meta.vitest) {\nx${" ".repeat(500_000)}/a\n`],
    ["comments that never end", "a.ts", `if (import.meta.vitest) {\n${"/* ".repeat(300_000)}`],
    ["documentation that never ends", "a.ts", "/** ".repeat(250_000)],
    ["blocks that never end", "a.ts", "if (import.meta.vitest) {\n".repeat(40_000)],
    ["fences that never end", "a.rs", "/// ```a\n/// b\n".repeat(60_000)],
    ["raw strings that never end", "a.rs", `#[cfg(test)]\nmod t {\n${'r#"'.repeat(300_000)}`],
    ["decorators of nothing", "a.py", `${"@a\n".repeat(300_000)}x`],
  ])("what a turn has written holds no run up: %s", (_, path, text) => {
    const before = process.cpuUsage();

    expect(withOldTests(path, text, "x")).toBeNull();
    expect(withOldTests(path, "x", text)).toBeNull();

    expect(process.cpuUsage(before).user).toBeLessThan(5_000_000); // microseconds; a second look at each part takes minutes
  });

  test("a decorated test goes with its decorators", () => {
    const text = '@slow\n@skip("no")\ndef test_a():\n    assert add(1, 1) == 2\n';
    expect(withOldTests("a.py", `import os\n${text}`, "import os\nX = 1\n")).toBe(`import os\nX = 1\n\n${text}`);
    expect(withOldTests("a.py", text, "X = 1\n")).toBe(`X = 1\n\n${text}`);
  });
});
