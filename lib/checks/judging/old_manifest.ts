import { posix } from "node:path";
import { isMakefile, isObject, jsonObject, makeBlocks } from "./scripts.ts";

/** Sections of package manifests by which runners are configured. */
const RUNNER_KEYS: readonly string[] = [
  "jest",
  "mocha",
  "ava",
  "vitest",
  "nyc",
  "c8",
  "tap",
  "wtr",
  "playwright",
  "test",
];
const RUNNER_SECTION_REGEXP =
  /^(?:tool[.:](?:pytest|tox|coverage|nox|hatch\.envs|poe|taskipy|pdm\.scripts|pixi|rye\.scripts|poetry\.plugins\.pytest11|mise)|(?:project\.entry-points|options\.entry_points|entry_points)\.pytest11|pytest|aliases|alias|test(?:$|\.)|bench(?:$|\.)|profile\.test|coverage|testenv)/;
const LINTER_SECTION_REGEXP =
  /^(?:tool[.:](?:ruff|mypy|black|isort|pylint|flake8|pyright|basedpyright|bandit|pydocstyle)|flake8|mypy|pycodestyle|pylint|isort|lints|(?:package\.auto(?:tests|benches)|(?:lib|bin)\.(?:test|doctest|harness)))(?:$|[.:-])/;
/** Linters and builders for runners that read an entry of `package.json`: a new one is as a new file of theirs. */
const TOOLS_REGEXP = /^(?:eslint|prettier|stylelint|tslint)(?:Config|Ignore)?$|^(?:babel|swc|standard|xo|jasmine|tsd)$/;
/** What package managers, bundlers and editors read of a `package.json`, and what is no check's. */
const PACKAGE_REGEXP =
  /ependenc|^(?:name|version|description|keywords|homepage|bugs|license|licenses|author|contributors|maintainers|funding|files|main|module|browser|bin|man|directories|repository|engines|os|cpu|libc|private|publishConfig|type|types|typings|typesVersions|exports|imports|importMap|sideEffects|overrides|resolutions|packageManager|devEngines|pnpm|volta|browserslist|unpkg|jsdelivr|icon|publisher|displayName|categories|activationEvents|contributes|capabilities|scripts|tasks|workspaces|workspace|lock|nodeModulesDir|compilerOptions|\$schema|test|allowScripts|trustedDependencies|catalogs?|oclif|pkg|build|electronmon|homebrew)$/;
/** What changes how recipes run, or runs as soon as the file is read. */
const SPECIAL_REGEXP =
  /^(?:override\s+|set\s+)?(?:\.?SHELL\w*|MAKE\w*|VPATH|shell)\b|^-?s?include\b|^(?:import|mod|export|set|define|load|vpath)\b|^[^\s:=]+\s*:[^=]*=|\$[({](?:shell|eval|file|guile)\b|!=|`/;

/** What of a manifest is old. */
export interface OldManifestOptions {
  /** What may decide on checks as well: entries that no package manager reads, and sections of linters. @default false */
  readonly withOthers?: boolean;
  /** What checks start: with the others, entries and sections by these names are old as well. @default none */
  readonly programs?: ReadonlySet<string>;
}

/** A manifest as the checks are to see it: what decides on them as it was, the rest as it is. Pure. */
export function oldManifest(
  path: string,
  before: string,
  after: string,
  { withOthers = false, programs = new Set() }: OldManifestOptions = {},
): string {
  if (isMakefile(path)) return oldMakefile(before, after);
  const isTool = (name: string): boolean => withOthers && (programs.has(name) || TOOLS_REGEXP.test(name));
  return /\.jsonc?$/.test(path)
    ? oldPackage(before, after, withOthers, isTool)
    : oldSections(before, after, withOthers, isTool);
}

/** Dependencies of before that now come from a folder, a link or git, as `name: source`. Pure. */
export function movedDependencies(path: string, before: string, after: string): readonly string[] {
  if (!/^(?:package|deno)\.jsonc?$/.test(posix.basename(path))) return [];
  const [was, is] = [dependencies(before), dependencies(after)];
  return [...is].filter(([name, source]) =>
    was.has(name) && was.get(name) !== source &&
    /^(?:\{.*":"\.{0,2}\/)|^(?:file:|link:|portal:|npm:|workspace:|git[+:@]|github:|https?:.*\.git|\.{0,2}\/)/.test(
      source,
    )
  ).map(([name, source]) => `${name}: ${source}`);
}

/** Scripts, runners' sections and workspaces as they were. New ones stay, but for a `pre…` or `post…` of one that was there. */
function oldPackage(before: string, after: string, withOthers: boolean, isTool: (name: string) => boolean): string {
  const [was, is] = [jsonObject(before), jsonObject(after)];
  const kept: Record<string, unknown> = { ...is };
  for (const key of ["workspaces", "workspace"]) {
    const [old, now] = [was[key], is[key]];
    if (Array.isArray(old)) kept[key] = [...old, ...Array.isArray(now) ? now.filter((one) => !old.includes(one)) : []];
    else if (old !== undefined) kept[key] = old;
  }
  for (const key of RUNNER_KEYS) {
    if (key in was) kept[key] = was[key];
    else delete kept[key];
  }
  for (const key of Object.keys(is)) if (!(key in was) && isTool(key)) delete kept[key];
  for (const key of Object.keys(was)) if (withOthers && !PACKAGE_REGEXP.test(key)) kept[key] = was[key];
  for (const key of ["scripts", "tasks"]) {
    const [old, now] = [was[key], is[key]];
    if (!isObject(old)) continue;
    const added = Object.entries(isObject(now) ? now : {}).filter(([name]) => {
      const hooked = name.replace(/^(?:pre|post)/, "");
      return !(name in old) && !(hooked !== name && hooked in old);
    });
    kept[key] = { ...old, ...Object.fromEntries(added) };
  }
  const unchanged = JSON.stringify(kept) === JSON.stringify(is) || sameContent(kept, is);
  return unchanged ? after : `${JSON.stringify(kept, null, 2)}\n`;
}

/** Rules and variables as they were; rules and variables that are new stay, but for those that change how recipes run. */
function oldMakefile(before: string, after: string): string {
  const was = makeBlocks(before);
  const rules = new Set(was.flatMap(({ names }) => names));
  const lines = new Set(was.map(({ text }) => text.trim()));
  const variables = new Set(was.map(({ text }) => variableOf(text)));
  const added = makeBlocks(after).filter(({ names, text }) => {
    if (text.trim() === "" || lines.has(text.trim())) return false;
    if (names.length > 0) return !names.some((name) => rules.has(name) || name.startsWith(".") || name.includes("%"));
    return !SPECIAL_REGEXP.test(text) && !text.startsWith("#") && !variables.has(variableOf(text)) &&
      !text.startsWith(".");
  });
  return added.length === 0 ? before : `${before.trimEnd()}\n\n${added.map(({ text }) => text.trimEnd()).join("\n")}\n`;
}

/** Sections of runners as they were, all others as they are. */
function oldSections(before: string, after: string, withOthers: boolean, isTool: (name: string) => boolean): string {
  const decides = (section: string): boolean =>
    keysOf(section).some((key) =>
      RUNNER_SECTION_REGEXP.test(key) || (withOthers && LINTER_SECTION_REGEXP.test(key)) ||
      isTool(/^tool[.:]([^.]+)/.exec(key)?.[1] ?? "")
    );
  const [was, is] = [sectionsOf(before), sectionsOf(after)];
  const titles = new Set(is.filter(decides).map(titleOf));
  const old = was.filter((section) => decides(section) || titles.has(titleOf(section)));
  if (old.join("") === is.filter(decides).join("")) return after;
  const isTop = (section: string): boolean => !section.trimStart().startsWith("[");
  const kept = is.filter((section) => !decides(section));
  const parts = [...kept.filter(isTop), ...old.filter(isTop), ...kept, ...old];
  return [...new Set(parts)].map((section) => `${section.trimEnd()}\n`).join("\n");
}

function titleOf(section: string): string {
  return /^\s*\[+[^\]]*\]/.exec(section)?.[0].trim() ?? "";
}

/** The keys of a section in full, however they are spelled: `[tool]` with `pytest.ini_options.addopts = …`. */
function keysOf(section: string): readonly string[] {
  const plain = (key: string): string => key.replaceAll(/["'\s]/g, "");
  const [head = "", ...lines] = section.split("\n");
  const title = /^\s*\[+([^\]]*)\]/.exec(head);
  const prefix = title === null ? "" : plain(title[1] ?? "");
  const keys = (title === null ? [head, ...lines] : lines).flatMap((line) => {
    const key = /^\s*([\w."'-]+(?:\s*\.\s*[\w"'-]+)*)\s*=/.exec(line)?.[1];
    return key === undefined ? [] : [`${prefix === "" ? "" : `${prefix}.`}${plain(key)}`];
  });
  return [prefix, ...keys];
}

function sectionsOf(text: string): readonly string[] {
  return text.split(/^(?=[ \t]*\[)/m).filter((section) => section.trim() !== "");
}

function variableOf(text: string): string {
  return /^(?:export\s+|override\s+)?([\w.-]+)\s*[:?+!]*=/.exec(text)?.[1] ?? text;
}

function dependencies(text: string): ReadonlyMap<string, string> {
  const data = jsonObject(text);
  const keys = [
    "dependencies",
    "devDependencies",
    "optionalDependencies",
    "peerDependencies",
    "overrides",
    "resolutions",
    "imports",
  ];
  return new Map(
    keys.flatMap((key) => isObject(data[key]) ? Object.entries(data[key]) : []).map(([name, source]) =>
      [name, typeof source === "string" ? source : JSON.stringify(source)] as const
    ),
  );
}

function sameContent(one: unknown, other: unknown): boolean {
  if (!isObject(one) || !isObject(other)) return JSON.stringify(one) === JSON.stringify(other);
  const keys = Object.keys(one);
  return keys.length === Object.keys(other).length && keys.every((key) => sameContent(one[key], other[key]));
}
