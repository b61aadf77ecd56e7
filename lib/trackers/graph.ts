/**
 * Reading answers of GraphQL: a value of another type counts as absent. Pure.
 *
 * @module
 */
import { isObject } from "../host/data.ts";

/** A text; "" for anything else. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** The objects of a connection, or of a list. */
export function nodesOf(list: unknown): readonly Readonly<Record<string, unknown>>[] {
  const nodes = isObject(list) ? list["nodes"] : list;
  return Array.isArray(nodes) ? nodes.filter(isObject) : [];
}

/** True for one label, whatever the case of its letters. */
export function sameName(name: unknown, label: string): boolean {
  return typeof name === "string" && name.toLowerCase() === label.toLowerCase();
}
