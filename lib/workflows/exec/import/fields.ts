/**
 * Reading JSON that others wrote: what is of another type is as good as absent. Pure.
 *
 * @module
 */

import { isPlain, type Plain } from "../../plain.ts";

/** The first of these keys that holds text or a number, as one trimmed text; "" where none does. */
export function textOf(fields: Plain, ...keys: readonly string[]): string {
  for (const key of keys) {
    const value = fields[key];
    if (typeof value === "string" && value.trim() !== "") return value.trim();
    if (typeof value === "number") return String(value);
  }
  return "";
}

/** Texts of a list, or one text as a list of one; of objects what they say in `text`, `description`, `title` or `criterion`. */
export function textsOf(value: unknown): readonly string[] {
  const values = Array.isArray(value) ? value : [value];
  return values.map((one) =>
    isPlain(one) ? textOf(one, "text", "description", "criterion", "title") : textOf({ one }, "one")
  )
    .filter((text) => text !== "");
}

/** Keys of the objects that none of these names are, each once. */
export function otherKeys(objects: readonly Plain[], known: readonly string[]): readonly string[] {
  return [...new Set(objects.flatMap((fields) => Object.keys(fields)))].filter((key) => !known.includes(key));
}
