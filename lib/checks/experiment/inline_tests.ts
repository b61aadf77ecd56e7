/**
 * Tests inside of the files that they test: blocks that only a test build has, and examples in documentation that a
 * runner tries. Such a file is the work, so it is never old as a whole: the tests that it had are laid into it as it is.
 *
 * @module
 */
import { posix } from "node:path";
import { closedFences } from "../../backlog/fences.ts";

/** A part of a text. */
interface Part {
  readonly start: number;
  readonly end: number;
}

/** How a language has tests in its own files. */
interface Way {
  /** One of these words is in a file with tests. */
  readonly words: readonly string[];
  /** Blocks begin here, at the start of a line: a test is a block by itself there. */
  readonly opens: RegExp;
  /** The beginning of what belongs to a block. @default where it opens */
  readonly begins?: (text: string, at: number) => number;
  readonly ends: (text: string, start: number) => number;
  /** A block that tests contains this. @default any block does */
  readonly tests?: RegExp;
  /** Examples in documentation, each as it is tried by itself. */
  readonly examples?: (text: string) => readonly string[];
  /** Text by which a runner tries these examples again, whatever the documentation says now. */
  readonly tries?: (examples: readonly string[]) => string;
}

const LONGEST_TEXT = 1024 * 1024;
/** A text in which so many blocks never end has no others that could be told. */
const MOST_UNENDED = 3;

const JAVASCRIPT: Way = {
  words: ["import.meta.vitest", "import.meta.main", "require.main"],
  opens: /^if[ \t]*\([^\n]*\b(?:import\.meta\.(?:vitest|main)|require\.main)\b/gm,
  ends: endOfBraces,
  tests: /\bimport\.meta\.vitest\b|\b(?:assert|expect|test|describe)\b/,
};
const RUST: Way = {
  words: ["cfg(test", "cfg(all(test", "[test]", "::test]", "#[rstest", "```"],
  opens: /^#\[(?:cfg\((?:all\(|any\()?\s*test\b[^\n]*|(?:\w+::)*test(?:\([^\n]*\))?|rstest(?:\([^\n]*\))?)\]/gm,
  ends: (text, start) => endOfBraces(text, start, OPAQUE_RUST_REGEXP),
  examples: (text) =>
    (text.match(/(?:^[ \t]*\/\/[/!](?!\/)[^\n]*\n?)+/gm) ?? []).flatMap((run) =>
      closedFences(run.replace(/^[ \t]*\/\/[/!] ?/gm, "")).map((lines) => lines.join("\n"))
    ),
  tries: (examples) =>
    examples.map((one, index) => `\n${one.replace(/^/gm, "/// ")}\n#[cfg(doctest)]\npub struct AsBefore${index};\n`)
      .join(""),
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

const WAYS: Readonly<Record<string, Way>> = {
  ...Object.fromEntries(
    [".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx"].map((ending) => [ending, JAVASCRIPT]),
  ),
  ".py": PYTHON,
  ".rs": RUST,
};

/** Words of which one is in each of these files that may have tests inside; none for files that never have. Pure. */
export function wordsOfInlineTests(paths: readonly string[]): readonly string[] {
  return [...new Set(paths.flatMap((path) => WAYS[posix.extname(path)]?.words ?? []))];
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

function blocksOf({ opens, begins, ends, tests }: Way, text: string): readonly Part[] {
  const parts: Part[] = [];
  let unended = 0;
  for (const { index } of text.matchAll(opens)) {
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

function without(text: string, parts: readonly Part[]): string {
  return parts.reduceRight((left, { start, end }) => left.slice(0, start) + left.slice(end), text);
}

function squeezed(text: string): string {
  return text.split("\n").map((line) => line.trim()).filter((line) => line !== "").join("\n");
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
