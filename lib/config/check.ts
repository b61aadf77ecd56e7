import type { z } from "zod";
import { isObject } from "../host/data.ts";
import { type Config, CONFIG_SCHEMA } from "./schema.ts";
import { nearest } from "../errors/ralph_error.ts";
import { configKeys } from "./json_schema.ts";
import { placeOf, valueAt } from "./key_path.ts";

/** The result of checking a parsed configuration; all problems at once. */
export interface CheckedConfig {
  /** `null` where there are problems. */
  readonly config: Config | null;
  /** The keys and indices that lead to it: ``limits.costUSD is not a key of the configuration; did you mean …`` */
  readonly problems: readonly { readonly path: readonly PropertyKey[]; readonly text: string }[];
  /** Keys with a new name. */
  readonly warnings: readonly string[];
}

/**
 * Checks data against the schema: what is not known is a problem, for a misspelt limit would limit nothing. Pure.
 *
 * @param options.ignoreUnknown leave such keys out: for the configuration of another version, which cannot be changed
 */
export function checkConfig(
  raw: unknown,
  { ignoreUnknown = false }: { readonly ignoreUnknown?: boolean } = {},
): CheckedConfig {
  const { data, warnings } = withNewNames(raw);
  // parsed once: to compile the schema for it takes longer than that
  const parsed = CONFIG_SCHEMA.safeParse(data, { jitless: true });
  if (parsed.success) return { config: parsed.data, problems: [], warnings };
  const issues = parsed.error.issues.flatMap((issue) => issuesOf(issue, data));
  const unknown = issues.flatMap((issue) =>
    issue.code === "unrecognized_keys" ? issue.keys.map((key) => [...issue.path, key]) : []
  );
  const wrong = issues.filter(({ code }) => code !== "unrecognized_keys")
    .map((issue) => ({ path: issue.path, text: describeIssue(issue, data) }));
  if (ignoreUnknown && wrong.length === 0) return { ...checkConfig(without(data, unknown)), warnings };
  const known = unknown.length === 0 ? [] : configKeys().map(({ path }) => path);
  const problems = [...wrong, ...unknown.map((path) => ({ path, text: describeUnknown(path, known) }))];
  return { config: null, problems, warnings };
}

/** Keys of version 0.1 with the names that they have now: section, old key, new key. */
const RENAMED: readonly (readonly [string, string, string])[] = [["limits", "noProgress", "idle"]];

/** Old keys are read as the new ones; where both are given, the new one counts. */
function withNewNames(raw: unknown): { readonly data: unknown; readonly warnings: readonly string[] } {
  const warnings: string[] = [];
  let data = raw;
  for (const [section, old, now] of RENAMED) {
    if (!isObject(data) || !isObject(data[section]) || !(old in data[section])) continue;
    const { [old]: value, ...rest } = data[section];
    data = { ...data, [section]: { [now]: value, ...rest } };
    warnings.push(`${section}.${old} is called ${section}.${now} now`);
  }
  return { data, warnings };
}

type Issue = z.core.$ZodIssue;

/** A value that may be of two forms is judged as the form that it has. */
function issuesOf(issue: Issue, data: unknown): readonly Issue[] {
  if (issue.code !== "invalid_union") return [issue];
  const value = valueAt(data, issue.path);
  const forms = issue.errors.filter((errors) =>
    errors.some(({ path, code }) => path.length > 0 || code !== "invalid_type")
  );
  const [form] = isObject(value) || forms.length === 1 ? forms : [];
  return form === undefined ? [issue] : form.map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] }));
}

function describeIssue(issue: Issue, data: unknown): string {
  const { path, message } = issue;
  const place = path.length === 0 ? "the file" : placeOf(path);
  const value = valueAt(data, path);
  if (value === undefined && path.length > 0) return `${place} is required`;
  const got = path.length === 0 || typeof value === "object" ? "" : ` (got: ${JSON.stringify(value)})`;
  if (issue.code === "invalid_value") {
    const values = issue.values.map((allowed) => JSON.stringify(allowed));
    const near = typeof value === "string" ? nearest(value, issue.values.map(String)) : null;
    const meant = near === null ? "" : `; did you mean ${JSON.stringify(near)}?`;
    return `${place} must be ${values.slice(0, -1).join(", ")} or ${values.at(-1)}${got}${meant}`;
  }
  if (issue.code === "invalid_union") return `${place}: no form of this key allows that${got}`;
  return `${place}: ${message.replace(/^(?:Invalid input|Too (?:small|big)): /, "")}${got}`;
}

/** Names the nearest key of the same section, else the section that has a key of this name. */
function describeUnknown(path: readonly PropertyKey[], known: readonly string[]): string {
  const section = placeOf(path.slice(0, -1)).replaceAll(/\[\d+\]/g, "[]");
  const name = String(path.at(-1));
  const before = section === "" ? "" : `${section}.`;
  const siblings = known.filter((key) => key.startsWith(before) && !key.slice(before.length).includes("."))
    .map((key) => key.slice(before.length));
  const near = nearest(name, siblings) ?? nearest(name.toLowerCase(), siblings);
  const text = `${placeOf(path)} is not a key of the configuration`;
  if (near !== null) return `${text}; did you mean \`${before}${near}\`?`;
  const elsewhere = known.filter((key) => key.endsWith(`.${name}`) && !key.includes("[]"));
  return elsewhere.length === 0 ? text : `${text}; did you mean \`${elsewhere.join("` or `")}\`?`;
}

/** A copy of plain data without the keys at these paths. */
function without(data: unknown, paths: readonly (readonly PropertyKey[])[]): unknown {
  if (typeof data !== "object" || data === null) return data;
  function inner(key: PropertyKey, value: unknown): unknown {
    return without(value, paths.filter((path) => path.length > 1 && path[0] === key).map((path) => path.slice(1)));
  }
  if (Array.isArray(data)) return data.map((value, index) => inner(index, value));
  const here = new Set(paths.filter((path) => path.length === 1).map(([key]) => key));
  return Object.fromEntries(
    Object.entries(data).filter(([key]) => !here.has(key)).map(([key, value]) => [key, inner(key, value)]),
  );
}
