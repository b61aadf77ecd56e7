/**
 * Nodes of a YAML document. Loads the YAML library: import it when a sprint is at hand.
 *
 * @module
 */
import { type Document, isMap, isNode, isSeq, type YAMLMap, YAMLSeq } from "yaml";
import { isPlain, type Plain } from "../plain.ts";
import { OVER } from "./step_order.ts";

/** The maps of a list, in order; what is no map is left out. */
export function maps(list: unknown): readonly YAMLMap[] {
  return isSeq(list) ? list.items.filter((item): item is YAMLMap => isMap(item)) : [];
}

/** The list under a key, made where there is none. An empty one is written as a block from then on. */
export function sequence(document: Document, key: string): YAMLSeq {
  const found = document.get(key);
  if (isSeq(found)) {
    if (found.items.length === 0) found.flow = false;
    return found;
  }
  const made = new YAMLSeq();
  document.set(key, made);
  return made;
}

/** Sets keys in place, in a map of keys those below; `undefined` deletes. @returns false when all held their value already */
export function setKeys(document: Document, values: Plain, above: readonly string[] = []): boolean {
  let changed = false;
  for (const [key, value] of Object.entries(values)) {
    const path = [...above, key];
    const found = document.getIn(path);
    if (isPlain(value)) changed = setKeys(document, value, path) || changed;
    else if (found !== value) {
      if (value === undefined) document.deleteIn(path);
      else document.setIn(path, value);
      changed = true;
    }
  }
  return changed;
}

/** The line that a node begins on, from 1; `null` for what is in no text. */
export function lineOf(text: string, node: unknown): number | null {
  const start = isNode(node) ? node.range?.[0] : undefined;
  return start === undefined ? null : text.slice(0, start).split("\n").length;
}

/** A step without a status is pending. */
export function statusOf(map: YAMLMap): string {
  return String(map.get("status") ?? "pending");
}

export function isOver(map: YAMLMap): boolean {
  return OVER.includes(statusOf(map));
}

export function idOf(map: YAMLMap): string {
  return String(map.get("id") ?? "");
}

/** The number that the next entry of a list gets, whose ids are the word and a number: highest + 1. */
export function nextNumber(list: unknown, word: string): number {
  const regexp = new RegExp(`^${word}-(\\d+)$`);
  return Math.max(0, ...maps(list).map((map) => Number(regexp.exec(idOf(map))?.[1] ?? 0))) + 1;
}
