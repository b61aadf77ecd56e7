import { RalphError } from "./ralph_error.ts";

/** The place where a text stops being JSON, and what was expected there. Lines and columns count from 1. */
export interface JsonSyntaxError {
  readonly line: number;
  readonly column: number;
  readonly expected: string;
}

const TOKEN_REGEXP = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const STRING_REGEXP = /"(?:[^"\\]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"/y;
const SPACE_REGEXP = /[ \t\r\n]*/y;

/**
 * The first syntax error of a text that `JSON.parse` refuses, or `null` for valid JSON. Every runtime words and places
 * its own error differently; this is the same in all of them.
 */
export function findJsonError(text: string): JsonSyntaxError | null {
  let position = 0;
  /** The bracket that closes each open one, innermost last. */
  const open: ("}" | "]")[] = [];
  let expects: "value" | "key" | "after-value" = "value";
  let isFirst = false; // nothing stands behind the last bracket: it may close at once

  for (;;) {
    position = endOf(SPACE_REGEXP, text, position) ?? position;
    const character = text[position];
    const closes = open.at(-1);
    if (closes !== undefined && character === closes && (isFirst || expects === "after-value")) {
      open.pop();
      position += 1;
      expects = "after-value";
    } else if (expects === "after-value") {
      if (closes === undefined) return character === undefined ? null : errorAt(text, position, "the end of the file");
      if (character !== ",") return errorAt(text, position, `\`,\` or \`${closes}\``);
      position += 1;
      expects = closes === "}" ? "key" : "value";
    } else if (expects === "key") {
      const end = endOf(STRING_REGEXP, text, position);
      if (end === null) return errorAt(text, position, "a key in double quotes");
      position = endOf(SPACE_REGEXP, text, end) ?? end;
      if (text[position] !== ":") return errorAt(text, position, "`:`");
      position += 1;
      expects = "value";
    } else if (character === "{" || character === "[") {
      open.push(character === "{" ? "}" : "]");
      position += 1;
      expects = character === "{" ? "key" : "value";
    } else {
      const end = endOf(STRING_REGEXP, text, position) ?? endOf(TOKEN_REGEXP, text, position);
      if (end === null) return errorAt(text, position, character === '"' ? "a closed string" : "a value");
      position = end;
      expects = "after-value";
    }
    isFirst = expects !== "after-value" && (character === "{" || character === "[");
  }
}

/** The end of a match that starts exactly at `position`, or `null`. */
function endOf(pattern: RegExp, text: string, position: number): number | null {
  pattern.lastIndex = position;
  const found = pattern.exec(text);
  if (found === null || found[0] === "") return null;
  const control = pattern === STRING_REGEXP && Array.from(found[0]).some((character) => character < " ");
  return control ? null : position + found[0].length;
}

function errorAt(text: string, position: number, expected: string): JsonSyntaxError {
  const before = text.slice(0, position).split("\n");
  return { line: before.length, column: (before.at(-1) ?? "").length + 1, expected };
}

/**
 * `JSON.parse` whose error names the line and column of a state file.
 *
 * @throws {RalphError} state-invalid
 */
export function parseJson(text: string, path: string): unknown {
  const plain = text.replace(/^\uFEFF/, "");
  try {
    return JSON.parse(plain);
  } catch (cause) {
    const found = findJsonError(plain);
    const problem = found === null
      ? "not valid JSON"
      : `not valid JSON: line ${found.line}, column ${found.column}: expected ${found.expected}`;
    throw new RalphError("state-invalid", { details: { path, problem }, cause });
  }
}
