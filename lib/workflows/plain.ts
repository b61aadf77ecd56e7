/**
 * Reading data that others wrote: a value of another type counts as absent. Pure.
 *
 * @module
 */

import { isObject, jsonIn } from "../host/data.ts";

export { filledText as textOf, isObject as isPlain, objectOr as plain } from "../host/data.ts";

/** An object of a JSON or YAML file. */
export type Plain = Readonly<Record<string, unknown>>;

/** The data of a JSON text; `undefined` where it is none. */
export function tryJson(text: string): unknown {
  return jsonIn(text.replace(/^\uFEFF/, ""));
}

/** The objects of a list; none if it is no list. */
export function plains(value: unknown): readonly Plain[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** The texts of a list; none if it is no list. */
export function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}

/** A whole number from 0 on. */
export function countOf(value: unknown): number | null {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 ? value : null;
}

/** Says what a value must be; `null` where it is so. */
export type Rule = (value: unknown) => string | null;

export function must(what: string, isSo: (value: unknown) => boolean): Rule {
  return (value) => isSo(value) ? null : `must be ${what}`;
}

/** The faults of the keys that are there, in the order of the rules. */
export function faultsOf(
  fields: Plain,
  rules: Readonly<Record<string, Rule>>,
  say: (key: string, fault: string) => string,
): readonly string[] {
  return Object.entries(rules).flatMap(([key, rule]) => {
    const fault = fields[key] === undefined ? null : rule(fields[key]);
    return fault === null ? [] : [say(key, fault)];
  });
}

/** Keys that are missing, and those that are not expected: a line for each of the two. */
export function keyErrors(
  fields: Plain,
  expected: readonly string[],
  [missingWords, unexpectedWords]: readonly [string, string],
): readonly string[] {
  const missing = expected.filter((key) => !Object.hasOwn(fields, key)).toSorted();
  const unexpected = Object.keys(fields).filter((key) => !expected.includes(key)).toSorted();
  return [
    ...(missing.length > 0 ? [`${missingWords}: ${missing.join(", ")}`] : []),
    ...(unexpected.length > 0 ? [`${unexpectedWords}: ${unexpected.join(", ")}`] : []),
  ];
}
