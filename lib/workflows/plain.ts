/**
 * Reading data that others wrote: a value of another type counts as absent. Pure.
 *
 * @module
 */

/** An object of a JSON or YAML file. */
export type Plain = Readonly<Record<string, unknown>>;

export function isPlain(value: unknown): value is Plain {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The object, or one without keys. */
export function plain(value: unknown): Plain {
  return isPlain(value) ? value : {};
}

/** The data of a JSON text; `undefined` where it is none. */
export function tryJson(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch {
    return undefined;
  }
}

/** The objects of a list; none if it is no list. */
export function plains(value: unknown): readonly Plain[] {
  return Array.isArray(value) ? value.filter(isPlain) : [];
}

/** A text that says something. */
export function textOf(value: unknown): string | null {
  return typeof value === "string" && value.trim() !== "" ? value : null;
}

/** The texts of a list; none if it is no list. */
export function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}

/** A whole number from 0 on. */
export function countOf(value: unknown): number | null {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 ? value : null;
}
