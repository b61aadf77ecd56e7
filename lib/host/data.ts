import { orElse } from "./looks.ts";

/** The value of a JSON text; `undefined` for any other: torn by a kill, or written by something else. */
export function jsonIn(text: string | null): unknown {
  return text === null ? undefined : orElse(() => JSON.parse(text) as unknown, undefined);
}

/** True for an object with keys. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The object, or one without keys. */
export function objectOr(value: unknown): Readonly<Record<string, unknown>> {
  return isObject(value) ? value : {};
}

/** The value with each text in it replaced, by the key that it is under; keys stay. */
export function mapTexts(value: unknown, map: (text: string, key: string) => string, key = ""): unknown {
  if (typeof value === "string") return map(value, key);
  if (Array.isArray(value)) return value.map((element) => mapTexts(element, map, key));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, mapTexts(field, map, name)]));
}

/** A text; "" for anything else. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** A text that says something; `null` for anything else. */
export function filledText(value: unknown): string | null {
  return typeof value === "string" && value.trim() !== "" ? value : null;
}

/** A text of at most so many characters. */
export function shortened(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

/** True for one name, whatever the case of its letters. */
export function sameName(one: unknown, other: string): boolean {
  return typeof one === "string" && one.toLowerCase() === other.toLowerCase();
}

/** The words of a text: a list of names that have no spaces. */
export function words(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}

/** The first of them in words: `a, b and 3 more`. */
export function firstOf(names: readonly string[], most: number): string {
  const more = names.length > most ? ` and ${names.length - most} more` : "";
  return `${names.slice(0, most).join(", ")}${more}`;
}
