/**
 * Tests inside of the files that they test: blocks that only a test build has, and examples in documentation that a
 * runner tries. Such a file is the work, so it is never old as a whole: the tests that it had are laid into it as it is.
 *
 * @module
 */
import { posix } from "node:path";
import { type Fence, nextFence } from "../../backlog/fences.ts";

/** A part of a text. */
interface Part {
  readonly start: number;
  readonly end: number;
}

/** How a language has tests in its own files. */
interface Way {
  /** One of these words is in a file with tests. */
  readonly words: readonly string[];
  /** Where blocks begin, at the start of a line: a test is a block by itself there. */
  readonly opens?: RegExp;
  /** Where what belongs to a block begins. @default where it opens */
  readonly begins?: (text: string, at: number) => number;
  readonly ends: (text: string, start: number) => number;
  /** What is in a block that tests. @default any block does */
  readonly tests?: RegExp;
  /** Examples in documentation, each as it is tried by itself. */
  readonly examples?: (text: string) => readonly string[];
  /** Text by which a runner tries these examples again, whatever the documentation says now. */
  readonly tries?: (examples: readonly string[]) => string;
}

const LONGEST_TEXT = 1024 * 1024;
/** A text in which so many blocks never end has no others that could be told. */
const MOST_UNENDED = 3;
const DOCUMENT_REGEXP = /\.(?:md|mdx|markdown|rst|txt|adoc)$/;
const PROMPT_REGEXP = /^[ \t]*>>> .*$/gm;

const C_LIKE: Way = {
  words: ["TEST_CASE(", "SCENARIO(", "unittest"],
  opens: /^(?:TEST_CASE|SCENARIO)[ \t]*\(|^(?:[\w@]+[ \t]+)*unittest\b\s*\{/gm,
  ends: endOfBraces,
};
const JAVASCRIPT: Way = {
  words: ["import.meta.vitest", "import.meta.main", "require.main", "```"],
  opens: /^if[ \t]*\([^\n]*\b(?:import\.meta\.(?:vitest|main)|require\.main)\b/gm,
  ends: endOfBraces,
  tests: /\bimport\.meta\.vitest\b|\b(?:assert|expect|test|describe)\b/,
  examples: (text) => fencesIn(documentationIn(text).map((one) => one.replace(/^[ \t]*\*[ \t]?/gm, ""))),
  tries: (examples) => examples.map((one) => `/**\n${prefixed(one, " * ")}\n */\n`).join(""),
};
const RUST: Way = {
  words: ["cfg(test", "cfg(all(test", "[test]", "::test]", "#[rstest", "```"],
  opens: /^#\[(?:cfg\((?:all\(|any\()?\s*test\b[^\n]*|(?:\w+::)*test(?:\([^\n]*\))?|rstest(?:\([^\n]*\))?)\]/gm,
  ends: (text, start) => endOfBraces(text, start, OPAQUE_RUST_REGEXP),
  examples: (text) =>
    fencesIn(
      (text.match(/(?:^[ \t]*\/\/[/!](?!\/)[^\n]*\n?)+/gm) ?? []).map((run) => run.replace(/^[ \t]*\/\/[/!] ?/gm, "")),
    ),
  tries: (examples) =>
    examples.map((one, index) => `\n${prefixed(one, "/// ")}\n#[cfg(doctest)]\npub struct AsBefore${index};\n`).join(
      "",
    ),
};
const PYTHON: Way = {
  words: [">>> ", "TestCase", "def test_"],
  tests: /\bassert|\bdef test/,
  opens: /^(?:class[ \t]+(?:Test\w*|\w+[ \t]*\([^)\n]*TestCase\b)|(?:async[ \t]+)?def[ \t]+test_)/gm,
  begins: decorated,
  ends: endOfIndent,
  examples: (text) =>
    [...text.matchAll(/\b[rRuU]?("""|''')[^]*?\1|("""|''')[^]*?\2/g)].map(([whole]) => whole).filter((one) =>
      one.includes(">>> ")
    ),
  tries: (examples) =>
    `\n__test__ = {**(globals().get("__test__") or {}), ${
      examples.map((one, index) => `"before ${index}": ${one}`).join(", ")
    }}\n`,
};
const ZIG: Way = { words: ["test "], opens: /^test\b[^\n{;]*\{/gm, ends: endOfBraces };

const WAYS: Readonly<Record<string, Way>> = {
  ...Object.fromEntries(
    [".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx"].map((ending) => [ending, JAVASCRIPT]),
  ),
  ...Object.fromEntries([".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".d"].map((ending) => [ending, C_LIKE])),
  ".py": PYTHON,
  ".rs": RUST,
  ".zig": ZIG,
};

/** Words of which one is in each of these files that may have tests inside; none for files that never have. Pure. */
export function wordsOfInlineTests(paths: readonly string[]): readonly string[] {
  return [...new Set(paths.flatMap((path) => WAYS[posix.extname(path)]?.words ?? []))];
}

/** True where a document has lost examples that a runner may have tried. It is no code, and may be old as a whole. Pure. */
export function lostExamples(path: string, before: string, now: string): boolean {
  if (!DOCUMENT_REGEXP.test(path)) return false;
  const kept = new Set((now.match(PROMPT_REGEXP) ?? []).map((line) => line.trim()));
  return (before.match(PROMPT_REGEXP) ?? []).some((line) => !kept.has(line.trim()));
}

/** True for a document by its name. Pure. */
export function isDocument(path: string): boolean {
  return DOCUMENT_REGEXP.test(path);
}

/**
 * A file with the tests that it had inside in the place of those that it has. Pure.
 *
 * @returns `null` where they are the same, where there were none, and where they cannot be told from the code
 */
export function withOldTests(path: string, before: string, now: string): string | null {
  const way = WAYS[posix.extname(path)];
  if (way === undefined || Math.max(before.length, now.length) > LONGEST_TEXT) return null;
  const [old, present] = [blocksOf(way, before), blocksOf(way, now)];
  const examples = way.examples?.(before) ?? [];
  const kept = new Set((way.examples?.(now) ?? []).map(squeezed));
  const lost = examples.filter((one) => !kept.has(squeezed(one)));
  const textOf = (text: string, parts: readonly Part[]): string =>
    parts.map(({ start, end }) => squeezed(text.slice(start, end))).join("\n");
  const isSame = old.length === 0 || textOf(before, old) === textOf(now, present);
  if (isSame && lost.length === 0) return null;
  const code = isSame ? now : without(now, present);
  const blocks = isSame ? "" : `\n${old.map(({ start, end }) => before.slice(start, end).trimEnd()).join("\n\n")}\n`;
  const added = `${blocks}${lost.length === 0 ? "" : way.tries?.(lost) ?? ""}`;
  const at = way === PYTHON ? code.search(/^if[ \t]+__name__\b/m) : -1; // what follows it runs too late
  return at < 0 ? `${code.trimEnd()}\n${added}` : `${code.slice(0, at)}${added.trimStart()}\n${code.slice(at)}`;
}

/** How alike the code of two files is, without their tests: the share of the first one's lines that the other has. Pure. */
export function sharedLines(path: string, one: string, other: string): number {
  const way = WAYS[posix.extname(path)];
  const linesOf = (text: string): readonly string[] =>
    (way === undefined ? text : without(text, blocksOf(way, text))).split("\n").map((line) => line.trim())
      .filter((line) => line.length > 3);
  const [mine, theirs] = [linesOf(one), new Set(linesOf(other))];
  return mine.length === 0 ? 0 : mine.filter((line) => theirs.has(line)).length / mine.length;
}

function blocksOf({ opens, begins, ends, tests }: Way, text: string): readonly Part[] {
  const parts: Part[] = [];
  let unended = 0;
  for (const { index } of opens === undefined ? [] : text.matchAll(opens)) {
    if (index < (parts.at(-1)?.end ?? 0)) continue;
    const start = begins?.(text, index) ?? index;
    const end = ends(text, start);
    if (end < 0 && ++unended > MOST_UNENDED) break;
    if (end > 0 && tests?.test(text.slice(start, end)) !== false) parts.push({ start, end });
  }
  return parts;
}

/** The first of the decorators above a line. */
function decorated(text: string, at: number): number {
  let start = at;
  for (;;) {
    const line = text.lastIndexOf("\n", start - 2) + 1;
    if (line >= start || text[line] !== "@") return start;
    start = line;
  }
}

/** What is in the documentation comments. */
function documentationIn(text: string): readonly string[] {
  const found: string[] = [];
  for (let from = text.indexOf("/**"); from >= 0;) {
    const end = text.indexOf("*/", from + 3);
    if (end < 0) break;
    found.push(text.slice(from + 3, end));
    from = text.indexOf("/**", end + 2);
  }
  return found;
}

function without(text: string, parts: readonly Part[]): string {
  return parts.reduceRight((left, { start, end }) => left.slice(0, start) + left.slice(end), text);
}

function squeezed(text: string): string {
  return text.split("\n").map((line) => line.trim()).filter((line) => line !== "").join("\n");
}

function prefixed(text: string, prefix: string): string {
  return text.split("\n").map((line) => `${prefix}${line}`.trimEnd()).join("\n");
}

/** Whole fences, their ends included. */
function fencesIn(documents: readonly string[]): readonly string[] {
  return documents.flatMap((one) => {
    const found: string[] = [];
    let fence: Fence = null;
    let lines: string[] = [];
    for (const line of one.split("\n")) {
      const next = nextFence(fence, line);
      if (next.inside) lines.push(line);
      if (fence !== null && next.fence === null) {
        found.push(lines.join("\n"));
        lines = [];
      }
      fence = next.fence;
    }
    return found;
  });
}

/**
 * Comments, strings, characters and regular expressions: braces in them count for nothing. Each is found in one pass over
 * the text, whatever a turn has written into it: what begins and never ends reaches to the end.
 */
const OPAQUE_REGEXP =
  /\/\/[^\n]*|\/\*(?:[^]*?\*\/|[^]*)|"(?:\\[^]|[^"\\])*"|`(?:\\[^]|[^`\\])*`|'(?:\\.|[^'\\\n])*'|\/(?<=[(,=:[!&|?{};\n]\s*\/)(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/|[[\](){};]/g;
/** In Rust a quote alone is a lifetime, and a string may be raw. */
const OPAQUE_RUST_REGEXP =
  /\/\/[^\n]*|\/\*(?:[^]*?\*\/|[^]*)|\br(#*)"(?:[^]*?"\1|[^]*)|"(?:\\[^]|[^"\\])*"|'(?:\\[^']+|\\'|[^'\\\n])'|[[\](){};]/g;

/** The end of what begins here: a closing brace, or a semicolon outside of any; -1 where there is none. */
function endOfBraces(text: string, start: number, opaque: RegExp = OPAQUE_REGEXP): number {
  let depth = 0;
  opaque.lastIndex = start;
  for (let match = opaque.exec(text); match !== null; match = opaque.exec(text)) {
    const [token] = match;
    if (/^[[({]$/.test(token)) depth += 1;
    else if (/^[\])}]$/.test(token)) depth -= 1;
    if (depth !== 0 || (token !== "}" && token !== ";")) continue;
    const end = opaque.lastIndex;
    return end + (token === "}" ? /^[ \t]*;/.exec(text.slice(end, end + 8))?.[0].length ?? 0 : 0); // `use a::{b, c};`
  }
  return -1;
}

/** The next line that is not indented. */
function endOfIndent(text: string, start: number): number {
  const header = /^(?:@[^\n]*\n)*[^\n]*(?:\n|$)/.exec(text.slice(start))?.[0].length ?? 0;
  const from = start + header;
  const next = /^[^\s#)\]}]/m.exec(text.slice(from));
  return next === null ? text.length : from + next.index;
}
