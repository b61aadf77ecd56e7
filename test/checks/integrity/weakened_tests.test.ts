import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type FileChange, weakenedTests } from "../../../lib/checks/integrity/weakened_tests.ts";

const JS = `import { expect, it } from "vitest";
describe("sum", () => {
  it("adds two numbers", () => {
    expect(sum(1, 2)).toBe(3);
  });
  it("adds negative numbers", () => {
    expect(sum(-1, -2)).toBe(-3);
    expect(sum(-1, 2)).toBe(1);
  });
});
`;

function change(before: string | null, after: string | null, path = "test/sum.test.js"): FileChange {
  return { path, before, after };
}

describe("weakenedTests()", () => {
  test.each<[string, FileChange[], string[]]>([
    ["a deleted file", [change(JS, null)], ["test/sum.test.js: deleted (2 test cases)"]],
    ["an emptied file", [change(JS, "\n")], ["test/sum.test.js: emptied (2 test cases)"]],
    ["a deleted file without a case", [change("{}", null, "tests/data.json")], ["tests/data.json: deleted"]],
    [
      "a case that is gone, although another was added",
      [change(
        JS,
        JS.replace(/ {2}it\("adds neg[^]*?\n {2}\}\);\n/, '  it("has a name", () => expect(sum.name).toBe("sum"));\n'),
      )],
      ["test/sum.test.js: 1 of 2 test cases gone (`adds negative numbers`), 1 of 3 assertions gone"],
    ],
    [
      "a case that is commented out",
      [change(JS, JS.replace('  it("adds two', '  // it("adds two'))],
      ["test/sum.test.js: 1 of 2 test cases gone (`adds two numbers`)"],
    ],
    [
      "a skip",
      [change(JS, JS.replace('it("adds two', 'it.skip("adds two'))],
      ['test/sum.test.js: newly skipped (`it.skip("adds two numbers", () => {`)'],
    ],
    [
      "a focus",
      [change(JS, JS.replace('it("adds two', 'it.only("adds two'))],
      ['test/sum.test.js: newly focused, so that others do not run (`it.only("adds two numbers", () => {`)'],
    ],
    [
      "a focus in a new file",
      [change(null, 'test.only("mine", () => {});', "test/new.test.js")],
      ['test/new.test.js: newly focused, so that others do not run (`test.only("mine", () => {});`)'],
    ],
    [
      "assertions that are gone",
      [change(JS, JS.replace("    expect(sum(-1, 2)).toBe(1);\n", ""))],
      ["test/sum.test.js: 1 of 3 assertions gone"],
    ],
    [
      "an assertion that nothing can break in the place of one",
      [change(JS, JS.replace("expect(sum(-1, 2)).toBe(1)", "expect(true).toBe(true)"))],
      ["test/sum.test.js: 1 of 3 assertions gone"],
    ],
    [
      "recorded output",
      [change("a\nb\nc\n", "a\nB\nc\nd\n", "test/__snapshots__/sum.snap")],
      ["test/__snapshots__/sum.snap: recorded output rewritten (1 of 3 lines)"],
    ],
    [
      "a file that is moved and loses a case",
      [change(JS, null), change(null, JS.replace(/ {2}it\("adds neg[^]*?\n {2}\}\);\n/, ""), "test/unit/sum.test.js")],
      ["test/unit/sum.test.js (was test/sum.test.js): 1 of 2 test cases gone (`adds negative numbers`), 2 of 3 assertions gone"],
    ],
  ])("tells of %s", (_, changes, expected) => {
    expect(weakenedTests(changes)).toEqual(expected);
  });

  test.each<[string, FileChange[]]>([
    ["a new file", [change(null, JS)]],
    ["cases and assertions that were added", [
      change(JS, `${JS}it("is new", () => { expect(1).toBe(sum(0, 1)); });\n`),
    ]],
    ["a title that was reworded", [change(JS, JS.replace("adds two numbers", "adds two small numbers"))]],
    ["an assertion that was changed", [change(JS, JS.replace("toBe(3)", "toEqual(3)"))]],
    ["a file that was renamed", [change(JS, null), change(null, JS, "test/total.test.js")]],
    [
      "a file that was renamed and changed a little",
      [change(JS, null), change(null, JS.replaceAll("sum(", "total("), "test/total.test.js")],
    ],
    [
      "a case that moved into another file",
      [
        change(JS, JS.replace(/ {2}it\("adds neg[^]*?\n {2}\}\);\n/, "")),
        change(
          'it("x", () => {});\n',
          `it("x", () => {});\nit("adds negative numbers", () => {\n  expect(sum(-1, -2)).toBe(-3);\n  expect(sum(-1, 2)).toBe(1);\n});\n`,
          "test/negative.test.js",
        ),
      ],
    ],
    ["other indentation", [change(JS, JS.replaceAll(/^ {2}/gm, "\t"))]],
    ["recorded output that was added", [change("a\nb\n", "a\nx\nb\n", "t/__snapshots__/a.snap")]],
    ["recorded output that is new", [change(null, "a\n", "t/__snapshots__/a.snap")]],
  ])("says nothing of %s", (_, changes) => {
    expect(weakenedTests(changes)).toEqual([]);
  });

  test.each<[string, string, string, RegExp]>([
    [
      "Python",
      "a/test_sum.py",
      "def test_adds():\n    assert add(1, 2) == 3\n\ndef test_rest():\n    assert 1\n",
      /test_adds/,
    ],
    ["Go", "sum_test.go", "func TestAdds(t *testing.T) {\n\tt.Fatal(1)\n}\n", /TestAdds/],
    ["Rust", "tests/sum.rs", "#[test]\nfn adds() {\n    assert_eq!(1, 1);\n}\n", /adds/],
    [
      "Java",
      "SumTest.java",
      '  @Test\n  @DisplayName("x")\n  public void adds() {\n    assertEquals(1, 1);\n  }\n',
      /adds/,
    ],
    ["Kotlin", "SumTest.kt", "@Test\nfun `adds two`() { assertTrue(x) }\n", /adds two/],
    ["C#", "SumTests.cs", "[Fact]\npublic async Task Adds() {\n  Assert.Equal(1, 1);\n}\n", /Adds/],
    ["Ruby", "sum_spec.rb", "it 'adds' do\n  expect(1).to eq(1)\nend\n", /adds/],
    ["PHP", "SumTest.php", "public function testAdds(): void {\n$this->assertSame(1, 1);\n}\n", /testAdds/],
    ["Swift", "SumTests.swift", "func testAdds() {\n XCTAssertEqual(1, 1)\n}\n", /testAdds/],
    ["C++", "sum_test.cc", "TEST(Sum, Adds) {\n  EXPECT_EQ(1, 1);\n}\n", /Sum, Adds/],
    ["Bats", "test/sum.bats", '@test "adds" {\n  run sum\n}\n', /adds/],
    ["Deno", "sum_test.ts", 'Deno.test(\n  "adds",\n  () => {},\n);\n', /adds/],
  ])("knows the cases of %s", (_, path, before, name) => {
    const [line] = weakenedTests([change(before, "// nothing\n", path)]);

    expect(line).toMatch(/test cases? gone/);
    expect(line).toMatch(name);
  });

  test.each([
    ['@pytest.mark.skip(reason="later")', "def test_a():"],
    ['@unittest.skip("later")', "def test_a():"],
    ['    pytest.skip("later")', "x"],
    ['\tt.Skip("later")', "x"],
    ["#[ignore]", "x"],
    ["@Disabled", "x"],
    ["@Ignore", "x"],
    ['xit("a", () => {});', 'it("a", () => {});'],
    ['xdescribe("a", () => {', 'describe("a", () => {'],
    ['describe.skip("a", () => {', 'describe("a", () => {'],
    ['test("a", { skip: true }, () => {});', 'test("a", {}, () => {});'],
    ['[Fact(Skip = "later")]', "[Fact]"],
    ["$this->markTestSkipped();", "x"],
    ['  skip "later"', "x"],
  ])("knows %s as a skip", (after, before) => {
    expect(weakenedTests([change(`${before}\nvoid a()\n`, `${after}\nvoid a()\n`)]).join()).toContain("newly skipped");
  });

  test("says nothing of any file that stays, grows or moves, and takes whatever text it is given", () => {
    const line = fc.oneof(
      fc.string({ maxLength: 60 }),
      fc.constantFrom(
        ...JS.split("\n"),
        "#[test]",
        "fn adds() {",
        "def test_a():",
        "  assert a == b",
        "/*",
        "*/",
        "  @Test",
        "void b()",
        "it.each([",
      ),
    );
    const text = fc.array(line, { minLength: 1, maxLength: 30 }).map((lines) => `x\n${lines.join("\n")}`);

    fc.assert(fc.property(text, text, (before, other) => {
      expect(weakenedTests([change(before, before)])).toEqual([]);
      expect(
        weakenedTests([change(before, null), change(null, before, "test/moved.test.js")]),
      ).toEqual([]);
      expect(Array.isArray(weakenedTests([change(before, other)]))).toBe(true);
    }));
  });

  test("no line takes it long: a megabyte, in lines or in one, is not what keeps a run", { timeout: 30_000 }, () => {
    const lines = JS.repeat(5000);
    const line = `${"it ( x.skip expect assert [ ".repeat(40_000)}\n`;
    const started = performance.now();

    weakenedTests([change(lines, lines.replace("adds two", "adds")), change(line, `${line}x`, "test/min.test.js")]);

    expect(performance.now() - started).toBeLessThan(15_000);
  });
});
