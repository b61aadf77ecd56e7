import type { Document } from "yaml";
import { parseJson } from "../errors/json_syntax.ts";
import { RalphError } from "../errors/ralph_error.ts";
import { checkConfig, type CheckedConfig } from "./check.ts";

/** Parses and checks the text of a configuration; each problem begins with its line and column. */
export async function readConfigText(
  text: string,
): Promise<Omit<CheckedConfig, "problems"> & { readonly problems: readonly string[] }> {
  let data: unknown;
  try {
    data = parseJson(text, "");
  } catch (error) {
    if (!RalphError.isInstance(error)) throw error;
    return { config: null, problems: [String(error.details["problem"])], warnings: [] };
  }
  const { config, problems, warnings } = checkConfig(data);
  if (problems.length === 0) return { config, problems: [], warnings };
  const lineOf = await jsonLines(text);
  const placed = problems.map(({ path, text: problem }) => ({ ...lineOf(path), problem }))
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

/** In a deeper file no place is looked for: the parser that knows places calls itself for each level. */
const DEEPEST = 500;

/** How deep brackets are nested; those in strings count as well. */
function depthOf(text: string): number {
  let deepest = 0;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at) | 0x20; // `[` and `{`, `]` and `}`
    if (code === 0x7b) depth += 1;
    else if (code === 0x7d) depth -= 1;
    if (depth > deepest) deepest = depth;
  }
  return deepest;
}

/**
 * Finds the line and column at which the key at a path of valid JSON begins, or the innermost part of the path that is
 * there. From 1.
 */
export async function jsonLines(
  text: string,
): Promise<(path: readonly PropertyKey[]) => TextPlace> {
  if (depthOf(text) > DEEPEST) return () => ({ line: 1, column: 1, known: false });
  const { isMap, isPair, isScalar, isSeq, LineCounter, parseDocument } = await import("yaml"); // JSON is YAML
  const lines = new LineCounter();
  const document: Document = parseDocument(text, { lineCounter: lines, uniqueKeys: false, logLevel: "silent" });
  return (path) => {
    let node: unknown = document.contents;
    let at = 0;
    for (const key of path) {
      const item = isMap(node)
        ? node.items.findLast((pair) => isScalar(pair.key) && pair.key.value === key)
        : isSeq(node)
        ? node.items[Number(key)]
        : undefined;
      if (item === undefined) return placeAt(at, false);
      const named = isPair(item) ? item.key : item;
      at = (named as { readonly range?: readonly number[] }).range?.[0] ?? at;
      node = isPair(item) ? item.value : item;
    }
    return placeAt(at, true);
  };

  function placeAt(at: number, known: boolean): TextPlace {
    const { line, col } = lines.linePos(at);
    return { line: Math.max(line, 1), column: Math.max(col, 1), known };
  }
}
