/**
 * Safe looks into values of unknown shape: an agent's line may be anything.
 *
 * @module
 */
import { shortened, words } from "../host/data.ts";

/** The value at a path of keys, or `undefined`. */
export function at(value: unknown, ...path: readonly string[]): unknown {
  let found: unknown = value;
  for (const key of path) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, key)) return undefined;
    found = (found as Readonly<Record<string, unknown>>)[key];
  }
  return found;
}

export function textAt(value: unknown, ...path: readonly string[]): string | null {
  const found = at(value, ...path);
  return typeof found === "string" ? found : null;
}

/** A finite number, or `null`. */
export function numberAt(value: unknown, ...path: readonly string[]): number | null {
  const found = at(value, ...path);
  return typeof found === "number" && Number.isFinite(found) ? found : null;
}

export function listAt(value: unknown, ...path: readonly string[]): readonly unknown[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
}

/** The values of an object. */
export function valuesAt(value: unknown, ...path: readonly string[]): readonly unknown[] {
  const found = at(value, ...path);
  return typeof found === "object" && found !== null ? Object.values(found) : [];
}

/** Adds what is known; `null` when nothing is. */
export function sumOf(...parts: readonly (number | null)[]): number | null {
  const numbers = parts.filter((part) => part !== null);
  return numbers.length === 0 ? null : numbers.reduce((sum, part) => sum + part, 0);
}

const INPUT_LENGTH = 300;
const OUTPUT_LENGTH = 1000;
/** The arguments that say most about a call, best first. */
const TELLING_KEYS = words("command cmd file_path filePath path pattern query url description prompt");

/** The input of a tool call, in one line. */
export function inputText(input: unknown): string {
  if (typeof input === "string") return short(input, INPUT_LENGTH);
  for (const key of TELLING_KEYS) {
    const found = textAt(input, key);
    if (found !== null && found !== "") return short(found, INPUT_LENGTH);
  }
  const commands = listAt(input, "commands").filter((command) => typeof command === "string");
  if (commands.length > 0) return short(commands.join("; "), INPUT_LENGTH);
  return input === undefined || input === null ? "" : short(JSON.stringify(input), INPUT_LENGTH);
}

/** The end of what a tool gave: text, or blocks of text. */
export function outputText(output: unknown): string {
  const text = plainText(output);
  return text.length <= OUTPUT_LENGTH ? text : `…${text.slice(-OUTPUT_LENGTH)}`;
}

function plainText(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === undefined || value === null) return "";
  if (Array.isArray(value)) return value.map(plainText).filter((part) => part !== "").join("\n");
  return textAt(value, "text") ?? textAt(value, "content") ?? textAt(value, "output") ?? textAt(value, "result") ??
    JSON.stringify(value);
}

function short(text: string, length: number): string {
  return shortened(text.slice(0, length * 2).replaceAll(/\s+/g, " ").trim(), length);
}
