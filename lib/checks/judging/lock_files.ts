import { posix } from "node:path";
import { isObject, jsonObject } from "./scripts.ts";

/** Files that pin what is installed, by hashes of it. */
const LOCKS_REGEXP =
  /^(?:package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|yarn\.lock|bun\.lock|deno\.lock|uv\.lock|poetry\.lock|pdm\.lock|Pipfile\.lock|Cargo\.lock|go\.sum|composer\.lock|Gemfile\.lock)$/;
const NPM_REGEXP = /^(?:package-lock|npm-shrinkwrap)\.json$/;
const HASH_REGEXP = /\bsha\d{1,3}[-:=][\w+/=-]{20,}|\bh1:[\w+/=]{20,}|\b[0-9a-f]{64}\b/g;
/** Files whose lines say where a dependency comes from. */
const LINES_REGEXP =
  /^(?:requirements[\w.-]*\.(?:txt|in)|go\.mod|go\.work|Cargo\.toml|pyproject\.toml|Pipfile|Gemfile)$/;
const LOCAL_REGEXP =
  /^\s*(?:-e\s|\.{1,2}\/|file:|git\+)|@\s*(?:file:|git\+|\.{0,2}\/)|=>\s*\.{0,2}\/|\b(?:path|git|url)\s*[:=]\s*["']/;

/** True for a file of which `movedPackages()` can say something. */
export function pinsPackages(path: string): boolean {
  const name = posix.basename(path);
  return LOCKS_REGEXP.test(name) || LINES_REGEXP.test(name);
}

/**
 * Packages that were there and are now another's: the same version with another content, or from a folder or git. Pure.
 *
 * @returns each with what has changed: `five 1.0.0: other content`
 */
export function movedPackages(path: string, before: string, after: string): readonly string[] {
  const name = posix.basename(path);
  if (!LOCKS_REGEXP.test(name)) return localLines(name, before, after);
  const [was, is] = [pinned(name, before), pinned(name, after)];
  const other = [...is].flatMap(([id, pin]) => {
    const old = was.get(id);
    if (old === undefined || old.size === 0 || [...pin].some((hash) => old.has(hash))) return [];
    return [`${id}: ${pin.size === 0 ? "no longer pinned" : "other content"}`];
  });
  return [...other, ...NPM_REGEXP.test(name) ? localByNpm(before, after) : []];
}

/** Packages that were there, and that npm now takes from a folder, a file or git, in whichever version. */
function localByNpm(before: string, after: string): readonly string[] {
  const was = new Map(packagesByNpm(before).map(({ path, ...one }) => [path, JSON.stringify(one)]));
  return packagesByNpm(after).filter(({ path, link, resolved, ...one }) =>
    (link === true || /^(?:file:|git)/.test(String(resolved))) &&
    was.has(path) && was.get(path) !== JSON.stringify({ link, resolved, ...one })
  ).map(({ path, resolved, version }) => {
    const named = typeof version === "string" ? `${nameByNpm(path)} ${version}` : nameByNpm(path);
    return `${named}: ${String(resolved)}`;
  });
}

/** New lines by which something comes from a folder or git, where its name was there before. */
function localLines(name: string, before: string, after: string): readonly string[] {
  const old = new Set(before.split("\n").map((line) => line.trim()));
  return after.split("\n").map((line) => line.trim()).filter((line) => {
    if (old.has(line) || !LOCAL_REGEXP.test(line)) return false;
    const named = /[A-Za-z][\w./-]{2,}/.exec(line.replace(/^(?:replace|gem|-e)\b/, ""))?.[0];
    return named !== undefined && before.includes(named);
  }).map((line) => `${line} (${name})`);
}

/** Hashes by name and version. */
function pinned(name: string, text: string): ReadonlyMap<string, ReadonlySet<string>> {
  return NPM_REGEXP.test(name) ? pinnedByNpm(text) : pinnedInBlocks(text);
}

function pinnedByNpm(text: string): ReadonlyMap<string, ReadonlySet<string>> {
  return new Map(
    packagesByNpm(text).map(({ path, version, integrity, resolved }) => {
      const pins = [integrity, ...integrity === undefined ? [resolved] : []].filter((one) => typeof one === "string");
      return [`${nameByNpm(path)} ${String(version)}`, new Set(pins)] as const;
    }),
  );
}

function packagesByNpm(text: string) {
  const { packages } = jsonObject(text);
  return Object.entries(isObject(packages) ? packages : {}).flatMap(([path, entry]) => {
    if (path === "" || !isObject(entry)) return [];
    const { link, resolved, version, integrity } = entry;
    return [{ path, link, resolved, version, integrity }];
  });
}

function nameByNpm(path: string): string {
  return path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
}

/** Lock files in paragraphs, sections or lines: the first words are the name, a line with `version` is the version. */
function pinnedInBlocks(text: string): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, ReadonlySet<string>>();
  const lines = /^\S+ v\S+ h1:/m.test(text);
  const sections = /^\[\[/m.test(text);
  const blocks = text.split(lines ? "\n" : sections ? /\n(?=\[\[)/ : /\n(?=\S)|\n(?= {2,4}['"/@\w][^\n]*[:{]\n)/);
  for (const block of blocks) {
    const hashes = new Set(block.match(HASH_REGEXP));
    const name = /\bname = "([^"]+)"/.exec(block)?.[1] ?? block.trim().replace(/\s*h1:.*$/s, "").split("\n")[0] ?? "";
    const version = /\bversion:?\s*=?\s*"?([\w.+-]+)/.exec(block)?.[1] ?? "";
    if (hashes.size > 0) found.set(`${name.replace(/["':,]+$|^["']/g, "")} ${version}`.trim(), hashes);
  }
  return found;
}
