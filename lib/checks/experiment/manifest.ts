/**
 * A package manifest as the old judges are to see it: what package managers read is new, everything else is as it was.
 *
 * @module
 */
import { posix } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { isObject, words } from "../../host/data.ts";

type Table = Readonly<Record<string, unknown>>;

/** A package manager, a bundler or a registry reads these. */
const INSTALLED = words(`
  name version description keywords homepage bugs licence licences license licenses author authors contributors maintainers
  funding files main module browser bin man lib directories repository engines os cpu private type types typings
  typesVersions exports imports sideEffects overrides resolutions packageManager pnpm browserslist workspace workspaces
  catalog catalogs project package build-system $schema
`);
/** And whatever has to do with dependencies, or with publishing. */
const INSTALLED_REGEXP = /ependenc|^publish\w*$/;
/** Entries of which existing ones are as they were, and new ones stay. */
const MERGED: ReadonlySet<string> = new Set(["scripts", "tasks"]);
/** Files that say what to install and nothing about how to check. */
const PINS_REGEXP = /^(?:go\.(?:mod|work)|Gemfile|requirements.*\.txt)$/;

/**
 * The manifest with its new dependencies and its old scripts and settings. If it cannot be parsed, the old text as a
 * whole. Pure but for the parser, which it loads.
 *
 * @returns `after` itself if nothing that judges has changed
 */
export async function oldManifest(path: string, before: string, after: string): Promise<string> {
  const name = posix.basename(path);
  if (PINS_REGEXP.test(name)) return after;
  if (!/\.(?:json|toml)$/.test(name)) return before;
  try {
    if (name.endsWith(".json")) return composed(JSON.parse(before), JSON.parse(after), after, toJson);
    const { parse, stringify } = await import("smol-toml");
    return composed(parse(before), parse(after), after, stringify);
  } catch {
    return before;
  }
}

function toJson(value: Table): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

function composed(before: Table, after: Table, text: string, toText: (value: Table) => string): string {
  const result = oldTable(before, after);
  return isDeepStrictEqual(result, after) ? text : toText(result);
}

function oldTable(before: Table, after: Table): Table {
  const kept: Record<string, unknown> = {};
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [was, is] = [before[key], after[key]];
    const value = INSTALLED.includes(key) || INSTALLED_REGEXP.test(key)
      ? is
      : key === "features"
      ? withoutLost(merged(was, is), new Set(dependenciesOf(after)))
      : MERGED.has(key)
      ? merged(was, is)
      : oldTools(key, was, is);
    if (value !== undefined) kept[key] = value;
  }
  return kept;
}

/** A new script stays unless it runs before or after an old one. */
function merged(was: unknown, is: unknown): unknown {
  if (!isObject(was) || !isObject(is)) return is === undefined ? was : is;
  const added = Object.entries(is).filter(([name]) => {
    const hooked = name.replace(/^(?:pre|post)/, "");
    return !(name in was) && !(hooked !== name && hooked in was);
  });
  return { ...was, ...Object.fromEntries(added) };
}

/** Old features without the dependencies that are gone: with them the manifest could not be read. */
function withoutLost(features: unknown, dependencies: ReadonlySet<string>): unknown {
  if (!isObject(features)) return features;
  const isThere = (entry: unknown): boolean => {
    const name = String(entry).replace(/^dep:/, "").replace(/[?/].*$/, "");
    return dependencies.has(name) || name in features;
  };
  return Object.fromEntries(
    Object.entries(features).map(([name, list]) => [name, Array.isArray(list) ? list.filter(isThere) : list]),
  );
}

function dependenciesOf(table: Table): readonly string[] {
  return Object.entries(table).flatMap(([key, value]) => {
    if (!isObject(value)) return [];
    return /ependenc/.test(key) ? Object.keys(value) : dependenciesOf(value);
  });
}

/** Tools of a `pyproject.toml` keep their old settings and get their new dependencies. */
function oldTools(key: string, was: unknown, is: unknown): unknown {
  if (key !== "tool" || !isObject(is)) return was;
  const old = isObject(was) ? was : {};
  const tools = [...new Set([...Object.keys(old), ...Object.keys(is)])].flatMap((name) => {
    const [before, now] = [old[name], is[name]];
    const dependencies = isObject(now) ? Object.entries(now).filter(([one]) => /ependenc/.test(one)) : [];
    if (before === undefined && dependencies.length === 0) return [];
    return [[name, isObject(before) ? { ...before, ...Object.fromEntries(dependencies) } : before ?? now] as const];
  });
  return tools.length === 0 ? was : Object.fromEntries(tools);
}
