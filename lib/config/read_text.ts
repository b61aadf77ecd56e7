import { parseJson } from "../errors/json_syntax.ts";
import { RalphError } from "../errors/ralph_error.ts";
import { checkConfig, type CheckedConfig } from "./check.ts";

/** Parses and checks the text of a configuration; each problem begins with its line and column. */
export function readConfigText(
  text: string,
): Omit<CheckedConfig, "problems"> & { readonly problems: readonly string[] } {
  let data: unknown;
  try {
    data = parseJson(text, "");
  } catch (error) {
    if (!RalphError.isInstance(error)) throw error;
    return { config: null, problems: [String(error.details["problem"])], warnings: [] };
  }
  const { config, problems, warnings } = checkConfig(data);
  if (problems.length === 0) return { config, problems: [], warnings };
  const placed = problems.map(({ path, text: problem }) => ({ ...jsonPlace(text, path), problem }))
    .toSorted((a, b) => a.line - b.line || a.column - b.column);
  return {
    config,
    problems: placed.map(({ line, column, problem }) => `line ${line}, column ${column}: ${problem}`),
    warnings,
  };
}

/** A place in a text; both count from 1. */
interface TextPlace {
  readonly line: number;
  readonly column: number;
  /** The whole path is there. */
  readonly known: boolean;
}

const TOKEN_REGEXP = /"(?:[^"\\]|\\.)*"|[{}[\]:,]|[^\s"{}[\]:,]+/g;

/**
 * The line and column at which the key at a path of valid JSON begins, or the innermost part of the path that is there.
 * The last one counts of a key that is there twice, as for `JSON.parse`.
 */
export function jsonPlace(text: string, path: readonly PropertyKey[]): TextPlace {
  /** The open brackets, each with the key or the index at which it is. */
  const inside: { readonly bracket: string; at: string | number }[] = [];
  let [found, offset, before] = [0, 0, ""];
  for (const { 0: token, index } of text.matchAll(TOKEN_REGEXP)) {
    const here = inside.at(-1);
    const isMark = token === ":" || token === "," || token === "}" || token === "]";
    const isKey = here?.bracket === "{" && before !== ":" && !isMark;
    const isElement = here?.bracket === "[" && !isMark;
    if (isKey) here.at = String(JSON.parse(token));
    if (isElement) here.at = Number(here.at) + 1;
    if (
      (isKey || isElement) && inside.every(({ at }, depth) => depth < path.length && String(at) === String(path[depth]))
    ) {
      [found, offset] = [inside.length, index];
    }
    if (token === "{" || token === "[") inside.push({ bracket: token, at: -1 });
    else if (token === "}" || token === "]") inside.pop();
    before = token;
  }
  const lines = text.slice(0, offset).split("\n");
  return { line: lines.length, column: (lines.at(-1) ?? "").length + 1, known: found === path.length };
}
