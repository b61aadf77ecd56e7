/** Tests that a check ran, as TAP and JUnit have them. */
import { describe, expect, test } from "vitest";
import { createTapReader, junitTests } from "../../lib/measured/tests_run.ts";
import type { TestsRun } from "../../lib/generated/events.ts";

function tapTests(text: string, size = text.length): TestsRun | null {
  const reader = createTapReader();
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length; at += Math.max(1, size)) reader.push(bytes.subarray(at, at + size));
  return reader.end();
}

const NESTED = `TAP version 13
# Subtest: add
    # Subtest: of one
    ok 1 - of one
      ---
      duration_ms: 1
      expected: |
        ok 7 - printed
      ...
    # Subtest: of zéro
    not ok 2 - of zéro
      ---
      stack: |-
        not ok 3 - in a stack
      ...
    1..2
not ok 1 - add
  ---
  failureType: 'subtestsFailed'
  ...
ok 2 - later # SKIP
not ok 3 - one day # TODO not yet
ok 4 - sub # time=12ms
1..4
# tests 5
`;

describe("TAP", () => {
  test.each([1, 7, 4096])("counts the results that have none below them, in pieces of %j", (size) => {
    expect(tapTests(NESTED, size)).toEqual({ passed: 2, failed: 1, skipped: 2, failures: ["of zéro"] });
  });

  test("a test that fails beside its own good parts counts", () => {
    const text = "    ok 1 - part\n    1..1\nnot ok 1 - whole\nok 2 - parent {\n    ok 1 - a\n    1..1\n}\n1..2\n";
    expect(tapTests(text)).toEqual({ passed: 2, failed: 1, skipped: 0, failures: ["whole"] });
  });

  test("of several runners adds up", () => {
    expect(tapTests("1..1\nok 1 - a\nTAP version 14\n1..1\r\nok 1 - b\r\n")).toMatchObject({ passed: 2 });
  });

  test.each([
    ["no output", ""],
    ["lines that look alike", "ok 1 of 3 files copied\nok  \tgithub.com/x/y\t0.2s\n"],
    ["a run that was cut off", "1..3\nok 1 - a\n"],
    ["results without a plan", "ok 1 - a\nok 2 - b\n"],
    ["a plan of nothing", "1..0 # skip\n"],
  ])("is not: %s", (_, text) => {
    expect(tapTests(text)).toBeNull();
  });
});

describe("JUnit", () => {
  test("counts test cases by what is in them", () => {
    const text = `\uFEFF<?xml version="1.0"?>
<!DOCTYPE testsuites>
<!-- <testcase/> -->
<testsuites tests="99"><testsuite name='a > b'>
  <properties><property name="failure" value="1"/></properties>
  <testcase classname="calc" name="adds &quot;1 &lt; 2&quot;"><failure message="no"><![CDATA[<testcase/> </x>]]></failure></testcase>
  <testcase classname="calc" name="sub"/>
  <testcase name='div'><error/></testcase>
  <testcase name="mul"><system-out>skipped</system-out><skipped/></testcase>
  <testcase name="flaky"><flakyFailure>once</flakyFailure></testcase>
</testsuite></testsuites>`;
    expect(junitTests(text)).toEqual({ passed: 2, failed: 2, skipped: 1, failures: ['calc adds "1 < 2"', "div"] });
  });

  test.each([
    ["nothing", ""],
    ["another document", "<project><testsuite/></project>"],
    ["coverage", `<coverage><packages/></coverage>`],
    ["one that is not closed", `<testsuite><testcase name="a"/>`],
    ["one that is closed in another order", `<testsuite><testcase name="a"></testsuite></testcase>`],
    ["two roots", "<testsuite/><testsuite/>"],
    ["a bare sign", `<testsuite><testcase name="a < b"/></testsuite>`],
  ])("is not: %s", (_, text) => {
    expect(junitTests(text)).toBeNull();
  });
});
