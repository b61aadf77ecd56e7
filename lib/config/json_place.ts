import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from "yaml";

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
