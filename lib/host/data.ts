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
