import { isDeepStrictEqual } from "node:util";

/** A copy that went through JSON: items and attempts may be computed on another machine. */
export function wired<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value)) as Value;
}

/** @throws {Error} when the value is no plain JSON @returns a copy that went through it */
export function plain<Value>(value: Value, what: string): Value {
  const copy = wired(value);
  if (!isDeepStrictEqual(copy, value)) throw new Error(`${what} must be plain JSON (got: ${JSON.stringify(value)})`);
  return copy;
}

/** @throws {Error} when the two differ */
export function same(found: unknown, expected: unknown, what: string): void {
  if (!isDeepStrictEqual(found, expected)) throw new Error(`${what} must be ${shown(expected)} (got: ${shown(found)})`);
}

/** @throws {Error} when the condition does not hold */
export function must(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(message);
}

function shown(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
