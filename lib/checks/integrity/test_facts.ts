/**
 * What a test file declares, found line by line in the usual notations of many languages. No parser: what a line looks
 * like is what it is taken for.
 *
 * @module
 */

/** Cases, marks and assertions of one file; a line that stands twice is there twice. */
export interface TestFacts {
  /** Titles or names of test cases. */
  readonly cases: readonly string[];
  /** Lines that keep a case from running, or from counting when it fails. */
  readonly skips: readonly string[];
  /** Lines that keep all other cases from running. */
  readonly focuses: readonly string[];
  /** Lines that assert something, once for each assertion. */
  readonly assertions: readonly string[];
}

/** Nothing at all. */
export const NO_FACTS: TestFacts = { cases: [], skips: [], focuses: [], assertions: [] };

/** What comes behind is recorded data or minified code, in which nobody looks for cases. */
const LONGEST_LINE = 2000;
const COMMENT_REGEXP = /^(?:\/\/|\*|#(?!\[)|--|<!--|;)/;
const MODIFIER =
  String.raw`(?:\.(?:only|skip|todo|each|concurrent|sequential|serial|fails|failing|fixme|slow|for)\b(?:\([^()]*\))?` +
  String.raw`|\.(?:skipIf|runIf)\([^()]*\))*`;

/** A declaration with its title or name, by language. */
const CASE_REGEXPS: readonly RegExp[] = [
  // JavaScript, Dart: it("…"), test.skip("…"), Deno.test(…), xit(…)
  new RegExp(String.raw`(?:^|[\s;{(])(?:(?:Deno|QUnit|Bun|t)\.)?[xf]?(?:it|test|specify)${MODIFIER}\s*[(\x60]\s*(.*)`),
  /^[xf]?(?:it|test|specify|scenario|example)\s+(["'].*)/, // Ruby, Elixir, Groovy
  /^@test\s+(["'].*)\{/, // Bats
  /^(?:async\s+)?def\s+(test\w*)/, // Python
  /^func\s+(?:\([^)]*\)\s*)?((?:[Tt]est|Benchmark|Fuzz|Example)\w*)\s*\(/, // Go, Swift
  /^t\.Run\(\s*(.*)/,
  /^(?:(?:public|protected|private|static|final)\s+)*function\s+(test\w*)/, // PHP
  /^(?:TEST|TEST_F|TEST_P|TYPED_TEST|TEST_CASE|SCENARIO|BOOST_AUTO_TEST_CASE)\s*\((.*)/, // C, C++
  /^(?:function\s+)?(test_?\w+)\s*\(\)\s*\{/, // shell
];
/** A mark on the line above the function that is the case: Rust, Java, Kotlin, C#, PHP. */
const MARK_REGEXP =
  /^(?:#\[(?:\w+::)*(?:test|rstest|test_case|Test)\b|@(?:Test|ParameterizedTest|RepeatedTest)\b|\[(?:Test|Fact|Theory|TestMethod|TestCase)\b)/;
const FUNCTION_REGEXP = /\b(?:fn|fun|func|function|void|Task(?:<[^>]*>)?)\s+(`[^`]+`|\w+)/;
const GROUP = "(?:it|test|describe|context|specify|suite|scenario|bench)";

const SKIP_REGEXP = new RegExp([
  String.raw`\b${GROUP}(?:\.\w+)*\.(?:skip|todo|fixme|fails|failing|skipIf|runIf)\b`,
  String.raw`(?:^|[\s;{(])x${GROUP}\b`,
  String.raw`\b(?:this|t|test|context|ctx|pytest|unittest)\.(?:skip|Skip|SkipNow|Skipf|xfail|skipTest|todo)\w*\(`,
  String
    .raw`\bself\.skipTest\(|@(?:pytest\.mark\.|unittest\.)?(?:skip|skipIf|skipUnless|skipif|xfail|expectedFailure)\b`,
  String.raw`@(?:Ignore|Disabled\w*)\b|\[(?:Ignore|Explicit)\b|\bSkip\s*=\s*"|#\[ignore\b|@tag :?skip\b`,
  String.raw`\bmarkTest(?:Skipped|Incomplete)\(|\bXCTSkip|\bGTEST_SKIP\(|\bDISABLED_`,
  String.raw`^(?:skip|pending)(?:\s+["']|\s*\(|\s*$)`,
  String.raw`\bskip\s*:\s*(?:true|["'])|\bignore\s*:\s*true`,
].join("|"));
const FOCUS_REGEXP = new RegExp(
  String.raw`\b${GROUP}(?:\.\w+)*\.only\b|(?:^|[\s;{(])f(?:it|describe|context)\b\s*[(\s]|\bonly\s*:\s*true`,
);
const ASSERTION_REGEXP =
  /\bexpect(?:\w*|\.(?:soft|poll|element))\s*\(|\bassert\w*|\bAssert\.\w+|\bXCTAssert\w*|\b(?:EXPECT|ASSERT|CHECK|REQUIRE)(?:_\w+)?\s*\(|\bt\.(?:Error|Fatal|Fail)\w*\(|\brequire\.[A-Z]\w*\(|\bt\.(?:is|not|deepEqual|like|true|false|truthy|falsy|throws|regex|equal|same|ok)\w*\(|\.should\b|\bshould\s*[(.]/g;
/** An assertion that nothing can break. */
const EMPTY_REGEXP =
  /\bexpect\(\s*(true|false|1|0|null)\s*\)\s*\.(?:to\.?)?(?:Be|Equal|be|eq|equal)\w*(?:\.\w+)?\(\s*\1?\s*\)|\bassert\w*(?:\.\w+)?[\s(]+(?:true|True|1)\s*\)?;?$/;
const IMPORT_REGEXP = /^(?:import|from|use|using|#include|require|@import)\b|=\s*require\(/;

/** Reads a test file. Pure. */
export function testFacts(text: string): TestFacts {
  const cases: string[] = [];
  const skips: string[] = [];
  const focuses: string[] = [];
  const assertions: string[] = [];
  let awaited: "title" | "function" | null = null;
  for (const line of codeLines(text)) {
    if (awaited === "title") {
      cases.push(titleOf(line));
      awaited = null;
    } else if (awaited === "function") {
      const name = FUNCTION_REGEXP.exec(line)?.[1];
      if (name !== undefined) {
        cases.push(name);
        awaited = null;
      }
    }
    if (MARK_REGEXP.test(line)) {
      const name = FUNCTION_REGEXP.exec(line)?.[1];
      if (name === undefined) awaited = "function";
      else cases.push(name);
    } else {
      const title = caseOf(line);
      if (title === "") awaited = "title";
      else if (title !== null) cases.push(titleOf(title));
    }
    if (SKIP_REGEXP.test(line)) skips.push(line);
    if (FOCUS_REGEXP.test(line)) focuses.push(line);
    if (!IMPORT_REGEXP.test(line) && !EMPTY_REGEXP.test(line)) {
      for (const _ of line.matchAll(ASSERTION_REGEXP)) assertions.push(line);
    }
  }
  return { cases, skips, focuses, assertions };
}

/** What stands where a case's title is expected; `""` when that is the next line, `null` where no case is declared. */
function caseOf(line: string): string | null {
  for (const regexp of CASE_REGEXPS) {
    const match = regexp.exec(line);
    if (match !== null) return (match[1] ?? "").trim();
  }
  return null;
}

/** A title without its quotation marks and what follows it. */
function titleOf(text: string): string {
  const quoted = /^(["'`])((?:\\.|(?!\1).)*)\1/.exec(text);
  return quoted?.[2] ?? text.replace(/[\s,;{(]+$/, "").slice(0, 120);
}

/** Lines without their indentation; comments and empty lines are left out. */
function* codeLines(text: string): Generator<string> {
  let commented = false;
  for (const line of text.split("\n")) {
    const bare = line.slice(0, LONGEST_LINE).trim();
    if (commented) {
      if (bare.includes("*/")) commented = false;
      continue;
    }
    if (bare.startsWith("/*")) {
      commented = !bare.includes("*/");
      continue;
    }
    if (bare !== "" && !COMMENT_REGEXP.test(bare)) yield bare;
  }
}
