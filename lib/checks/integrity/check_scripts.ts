/**
 * The scripts behind checks: `npm test` says nothing of what it runs, package.json does. Pure.
 *
 * @module
 */
import type { FileChange } from "./weakened_tests.ts";

const PACKAGE_REGEXP = /(?:^|\/)package\.json$/;
const MAKE_REGEXP = /(?:^|\/)(?:GNUmakefile|[Mm]akefile|[Jj]ustfile|\.justfile)$/;
const RUNNER_REGEXP = /(?:^|[\s;&|(])(npm|pnpm|yarn|bun)\s+([^;&|)]*)/g;
const MAKER_REGEXP = /(?:^|[\s;&|(])(make|gmake|just)(?:\s+([^;&|)]*))?(?=$|[;&|)])/g;
/** What of a package manager is no script. */
const COMMANDS: ReadonlySet<string> = new Set([
  "ci",
  "install",
  "i",
  "exec",
  "x",
  "add",
  "dlx",
  "audit",
  "init",
  "pack",
]);

/** True for a file that says what the scripts behind checks do. */
export function holdsScripts(path: string): boolean {
  return PACKAGE_REGEXP.test(path) || MAKE_REGEXP.test(path);
}

/** The scripts behind these commands that are not what they were, a line each. A script that is new is none of them. */
export function changedScripts(commands: readonly string[], changes: readonly FileChange[]): readonly string[] {
  return changes.flatMap(({ path, before, after }) => {
    if (before === null) return [];
    const isPackage = PACKAGE_REGEXP.test(path);
    const [old, now] = isPackage
      ? [packageScripts(before), packageScripts(after ?? "")]
      : [makeRules(before), makeRules(after ?? "")];
    const first = [...old.keys()][0];
    const asked = commands.flatMap((command) => isPackage ? scriptsIn(command) : targetsIn(command, first));
    return [...reached(asked, old, isPackage)].flatMap((name) => {
      const [was = "", is] = [old.get(name), now.get(name)];
      if (was === is) return [];
      const what = is === undefined ? "was taken away" : `was \`${short(was)}\` and is \`${short(is)}\``;
      return [`${path}: \`${name}\`, which the checks run, ${what}`];
    });
  });
}

/** Those of the names that there are, and what they call in turn. */
function reached(asked: readonly string[], old: ReadonlyMap<string, string>, isPackage: boolean): ReadonlySet<string> {
  const found = new Set<string>();
  const waiting = [...asked];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    const text = old.get(name);
    if (text === undefined || found.has(name)) continue;
    found.add(name);
    if (isPackage) waiting.push(`pre${name}`, `post${name}`, ...scriptsIn(text));
    else {waiting.push(
        ...(text.split("\n")[0] ?? "").split(/\s+/),
        ...targetsIn(text.replaceAll("$(MAKE)", "make"), undefined),
      );}
  }
  return found;
}

/** `npm test`, `pnpm run unit`, `yarn lint` → test, unit, lint. */
function scriptsIn(command: string): readonly string[] {
  return [...command.matchAll(RUNNER_REGEXP)].flatMap(([, , rest = ""]) => {
    const words = rest.trim().split(/\s+/).filter((word) => !word.startsWith("-"));
    const named = words[0] === "run" || words[0] === "run-script" ? words.slice(1) : words;
    const [name] = named.map((word) => word === "t" || word === "tst" ? "test" : word);
    // `npm --prefix app test`: the folder is taken for a name, and what follows for another
    return name === undefined || COMMANDS.has(name) ? [] : [name, ...named.slice(1, 3)];
  });
}

function targetsIn(command: string, first: string | undefined): readonly string[] {
  return [...command.matchAll(MAKER_REGEXP)].flatMap(([, , rest = ""]) => {
    const words = rest.trim().split(/\s+/).filter((word) =>
      word !== "" && !word.startsWith("-") && !word.includes("=")
    );
    return words.length === 0 && first !== undefined ? [first] : words;
  });
}

function packageScripts(text: string): ReadonlyMap<string, string> {
  try {
    const { scripts } = JSON.parse(text) as { readonly scripts?: unknown };
    if (typeof scripts !== "object" || scripts === null) return new Map();
    return new Map(Object.entries(scripts).map(([name, script]) => [name, String(script)]));
  } catch {
    return new Map(); // no JSON: whatever runs it says so
  }
}

/** Target to its prerequisites, then its recipe, a line each. */
function makeRules(text: string): ReadonlyMap<string, string> {
  const rules = new Map<string, string>();
  let open: readonly string[] = [];
  for (const line of text.split("\n")) {
    const head = /^([^\s#:=@.][^#:=]*?)\s*::?(?![=])\s*(.*)$/.exec(line);
    if (head !== null) {
      open = (head[1] ?? "").split(/\s+/);
      for (const name of open) rules.set(name, [rules.get(name), head[2] ?? ""].filter(Boolean).join(" "));
    } else if (/^\s+\S/.test(line)) {
      for (const name of open) rules.set(name, `${rules.get(name) ?? ""}\n${line.trim()}`);
    } else if (line.trim() !== "") open = [];
  }
  return rules;
}

function short(text: string): string {
  const line = text.trim().replaceAll(/\s*\n\s*/g, "; ");
  return line.length > 100 ? `${line.slice(0, 99)}…` : line;
}
