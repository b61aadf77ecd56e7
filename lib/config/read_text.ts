import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from "yaml";
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

/**
 * The line and column at which the key at a path of valid JSON begins, or the innermost part of the path that is there.
 * The last one counts of a key that is there twice, as for `JSON.parse`.
 */
export function jsonPlace(text: string, path: readonly PropertyKey[]): TextPlace {
  const lineCounter = new LineCounter();
  let node: unknown = parseDocument(text, { lineCounter, uniqueKeys: false }).contents;
  let place: Node | null = null;
  let depth = 0;
  for (const key of path) {
    if (isMap(node)) {
      const pair = node.items.findLast((one) => isScalar(one.key) && String(one.key.value) === String(key));
      if (pair === undefined) break;
      [place, node] = [pair.key as Node, pair.value];
    } else {
      const element = isSeq(node) ? node.items[Number(key)] : undefined;
      if (element === undefined) break;
      place = node = element as Node;
    }
    depth += 1;
  }
  const { line, col: column } = lineCounter.linePos(place?.range?.[0] ?? 0);
  return { line, column, known: depth === path.length };
}
