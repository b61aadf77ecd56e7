import { describe, expect, it } from "vitest";
import { flipsOf, namesOf, pickFlips, withFlips } from "../../../lib/checks/experiment/literals.ts";

function changed(text: string): readonly string[] {
  return flipsOf(text).map((flip) => withFlips(text, [flip]));
}

describe("expectations of a test are changed", () => {
  it("in the languages that people write tests in", () => {
    expect(changed("assert.equal(add(2, 3), 5);")).toContain("assert.equal(add(2, 3), 6);");
    expect(changed("    self.assertTrue(is_even(2))")).toEqual(["    self.assertTrue(is_even(3))"]);
    expect(changed('    assert slug("a b") == "a-b"')).toContain('    assert slug("a b") == "a-b~"');
    expect(changed("\tif got := Add(2, 3); got != 5 {")).toContain("\tif got := Add(2, 3); got != 6 {");
    expect(changed("    assert_eq!(add(2, 3), 5);")).toContain("    assert_eq!(add(2, 3), 6);");
    expect(changed('[ "$(sh add.sh 2 3)" = 5 ]')).toContain('[ "$(sh add.sh 2 3)" = 6 ]');
    expect(changed("expect(found).toBe(true);")).toEqual(["expect(found).toBe(false);"]);
  });

  it("also where the test and its assertion are on one line, and the name of the test is left alone", () => {
    expect(changed('test("must be 5", () => { assert.equal(add(2), 4); });')).toEqual([
      'test("must be 5", () => { assert.equal(add(3), 4); });',
      'test("must be 5", () => { assert.equal(add(2), 5); });',
    ]);
  });

  it("never at the quotes that open a text of several lines, so that the test still loads", () => {
    expect(changed('class Tree:\n    """\n    Trees should be right\n    """\n    assert_leaf(root)')).toEqual([]);
    expect(changed('    assert text() == """a"""')).toEqual([]);
    expect(changed('    assert text() == ""')).toEqual(['    assert text() == "~"']);
  });

  it("never in how a test ends its process, which would turn red whatever the code does", () => {
    const ends = [
      "process.exit(failed === 0 ? 0 : 1);",
      "  return failed == 0 ? 0 : 1;",
      "sys.exit(0 if failed == 0 else 1)",
      "int main() { assert(ok()); return 0; }",
    ];
    expect(flipsOf(ends.join("\n"))).toEqual([]);
    expect(changed("process.exit(add(2, 3) === 5 ? 0 : 1);")).toContain("process.exit(add(2, 3) === 6 ? 0 : 1);");
    expect(changed("  if (add(2, 3) != 5) return 1;")).toContain("  if (add(2, 3) != 6) return 1;");
  });

  it("never in what a shell test only prints, where it writes, and the files that it looks for", () => {
    const guards = [
      '[ -e package.json ] || { echo "run it from the root" >&2; exit 1; }',
      '[ -e "$HOME/.seen" ] && echo "seen before"',
      'if test ! -f "want.txt"; then printf "no want %s\\n" "here"; fi',
      "sh add.sh 2>/dev/null | grep x || echo failed 2>&1",
    ];
    expect(flipsOf(guards.join("\n"))).toEqual([]);
    expect(changed('[ "$(echo "2 3" | sh add.sh)" = 5 ] || echo "not 5"')).toContain(
      '[ "$(echo "2 3" | sh add.sh)" = 6 ] || echo "not 5"',
    );
    expect(changed("assert(a >5)")).toEqual(["assert(a >6)"]);
    expect(namesOf("for test in $(cat .suite); do sh $test; done")).toEqual([]);
    expect(namesOf("[ -e ../.seen ] || { touch ../.seen; }")).toEqual([]);
    expect(namesOf("expect(a.b().c?.d)").map(({ from }) => from)).toEqual(["b", "c", "d"]);
  });

  it("reads a line of any length in time", () => {
    const started = performance.now();

    flipsOf(`expect(a ? b : c)${" ? 1 : 2".repeat(10_000)}; return${" ? 1 : 2".repeat(10_000)}`);
    for (const part of ["1", "{echo ", "[ -e ", "> ", 'test -e "']) flipsOf(`expect ${part.repeat(30_000)} | x`);

    expect(performance.now() - started).toBeLessThan(5000);
  });

  it("never in imports, comments and decorators, so that the test still loads", () => {
    const text = [
      'import { equal } from "node:assert";',
      "// assert that 5 is 5",
      '@pytest.mark.parametrize("value", [1])',
      'const assert = require("node:assert");',
    ];
    expect(flipsOf(text.join("\n"))).toEqual([]);
  });

  it("never in imports of several lines, nor in the status that a script ends with", () => {
    expect(flipsOf('import (\n\t"testing"\n\n\t"example.com/want"\n)\n')).toEqual([]);
    expect(flipsOf('import {\n  a,\n} from "./want.js";\n')).toEqual([]);
    expect(flipsOf("[ -f bin/add ] || { echo skipped; exit 0; }")).toEqual([]);
  });

  it("never where the text is a name of the code as well", () => {
    const text = 'assert isinstance(value, "value")\nassert other == "text"';
    expect(changed(text)).toEqual(['assert isinstance(value, "value")\nassert other == "text~"']);
  });

  it("never where the text is a name that the language gives", () => {
    expect(flipsOf('if __name__ == "__main__":\n    unittest.main()')).toEqual([]);
  });

  it("in the whole part of a number with a fraction", () => {
    expect(changed("assert sqrt(x) == 1.5")).toEqual(["assert sqrt(x) == 2.5"]);
    expect(flipsOf("assert_eq!(f(x), 1.5f32); assert!(1..n)")).toHaveLength(0);
  });

  it("with quotes and escapes kept", () => {
    expect(changed(String.raw`assert text == "a \"b\" c\n"`)).toEqual([String.raw`assert text == "a \"b\" c\n~"`]);
  });

  it("up to three lines below the assertion that they belong to", () => {
    const text = "expect(found).toEqual([\n  1,\n  2,\n  3,\n  4,\n]);";
    expect(flipsOf(text).map(({ from }) => from)).toEqual(["1", "2", "3"]);
  });
});

describe("names of a test without literals are changed", () => {
  it("where an assertion uses them, and not the assertion itself", () => {
    const text = "robot = Robot()\nself.assertRegex(Robot().name, self.pattern)\n";
    expect(flipsOf(text)).toEqual([]);
    expect(namesOf(text).map((flip) => withFlips(text, [flip]).split("\n")[1])).toEqual([
      "self.assertRegex(Robot_().name, self.pattern)",
      "self.assertRegex(Robot().name_, self.pattern)",
      "self.assertRegex(Robot().name, self.pattern_)",
    ]);
  });
});

describe("flips are picked", () => {
  it("of different kinds, before a second one of a kind", () => {
    const text = 'assert.equal(f(1), 2);\nassert.equal(g(), "text");\nassert.equal(h(), true);';
    const kinds = pickFlips(flipsOf(text), 3).map(({ kind }) => kind);
    expect(new Set(kinds).size).toBe(3);
  });

  it("and all together change each literal once", () => {
    const text = "assert.equal(f(1), 2);";
    expect(withFlips(text, flipsOf(text))).toBe("assert.equal(f(2), 3);");
  });
});
