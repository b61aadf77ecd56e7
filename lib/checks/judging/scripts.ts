import picomatch from "picomatch";

/** Package managers and runners of scripts, and the manifests that hold their scripts. */
const MANIFESTS: Readonly<Record<string, readonly string[]>> = {
  npm: ["package.json"],
  pnpm: ["package.json"],
  yarn: ["package.json"],
  bun: ["package.json"],
  node: ["package.json"],
  "npm-run-all": ["package.json"],
  "run-s": ["package.json"],
  "run-p": ["package.json"],
  concurrently: ["package.json"],
  turbo: ["package.json"],
  lerna: ["package.json"],
  deno: ["deno.json", "deno.jsonc", "package.json"],
  composer: ["composer.json"],
};
const MAKEFILES: Readonly<Record<string, readonly string[]>> = {
  make: ["GNUmakefile", "makefile", "Makefile"],
  gmake: ["GNUmakefile", "makefile", "Makefile"],
  just: ["justfile", "Justfile", ".justfile"],
};
/** How often variables in the values of variables are replaced, and by how much text in all. */
const VARIABLE_DEPTH = 3;
const LONGEST_RECIPE = 64 * 1024;
const RULE_REGEXP = /^([^\s#:=@.][^#:=]*?)\s*(?:::?(?![=:])\s*([^=]*))$/;

/** Files beside which a program finds what its words mean. */
export function manifestsOf(program: string): readonly string[] {
  return MANIFESTS[program] ?? MAKEFILES[program] ?? [];
}

/** True where a command runs scripts of other packages of its workspace as well. Pure. */
export function runsWorkspaces(program: string, words: readonly string[]): boolean {
  return program === "turbo" || program === "lerna" || words[0] === "workspaces" || words[0] === "workspace" ||
    words.some((word) => /^(?:-ws|-r|-w|-F|--workspaces?|--recursive|--filter)(?:=|$)/.test(word));
}

/** True for a Makefile or justfile. */
export function isMakefile(path: string): boolean {
  const name = path.slice(path.lastIndexOf("/") + 1);
  return Object.values(MAKEFILES).some((names) => names.includes(name));
}

/** What the words of a command run by way of this manifest: shell texts. Pure. */
export function scriptsRun(path: string, text: string, words: readonly string[]): readonly string[] {
  return isMakefile(path) ? recipesRun(text, words) : packageScriptsRun(text, words);
}

/** The scripts or tasks of a package manifest. Pure. */
export function packageScripts(text: string): ReadonlyMap<string, string> {
  const { scripts, tasks } = jsonObject(text);
  const entries = [scripts, tasks].flatMap((found) => isObject(found) ? Object.entries(found) : []);
  return new Map(entries.map(([name, script]) => [name, scriptText(script)]));
}

/** Data of a JSON file; an empty object where it is none: what runs it says so. */
export function jsonObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const data: unknown = JSON.parse(text);
    return isObject(data) ? data : {};
  } catch {
    return {};
  }
}

/** True for an object that is no array. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A Makefile or justfile in blocks: rules with their recipes, and what is between them. Pure. */
export function makeBlocks(text: string): readonly { readonly names: readonly string[]; readonly text: string }[] {
  const blocks: { names: readonly string[]; text: string }[] = [];
  for (const line of text.split("\n")) {
    const last = blocks.at(-1);
    const rule = RULE_REGEXP.exec(line);
    if (rule !== null) blocks.push({ names: namesOf(rule[1] ?? ""), text: line });
    else if (last !== undefined && (/^\s+\S/.test(line) || line === "")) last.text += `\n${line}`;
    else blocks.push({ names: [], text: line });
  }
  return blocks;
}

/** Files that make takes for what these words ask for, without a recipe being run, as soon as they are there. Pure. */
export function targetsRun(path: string, text: string, words: readonly string[]): readonly string[] {
  if (!/makefile$/i.test(path)) return [];
  const phony = new Set(
    [...text.matchAll(/^\.PHONY\s*:(.*)$/gm)].flatMap(([, names = ""]) => names.trim().split(/\s+/)),
  );
  const made = new Set(
    [...text.matchAll(/^([^\s#:=][^#:=]*?)\s*::?(?!=)/gm)].flatMap(([, head = ""]) => namesOf(head)),
  );
  return [...askedFor(makeBlocks(text), words, text).found].filter((name) => made.has(name) && !phony.has(name));
}

function namesOf(head: string): readonly string[] {
  return head.split(/\s+/).map((name) => name.replace(/^@/, ""));
}

function packageScriptsRun(text: string, words: readonly string[]): readonly string[] {
  const scripts = packageScripts(text);
  const plain = words.map((word) => word === "t" || word === "tst" ? "test" : word.replace(/^(?:--run=|npm:)/, ""));
  const named = plain.flatMap((name) => name.includes("*") ? namesLike(name, [...scripts.keys()]) : [name]);
  return named.flatMap((name) => [`pre${name}`, name, `post${name}`]).flatMap((name) => {
    const script = scripts.get(name);
    return script === undefined ? [] : [script];
  });
}

/** `check:*` is for scripts what a path's pattern is for files. */
function namesLike(pattern: string, names: readonly string[]): readonly string[] {
  const matches = picomatch(pattern.replaceAll(":", "/"));
  return names.filter((name) => matches(name.replaceAll(":", "/")));
}

function recipesRun(text: string, words: readonly string[]): readonly string[] {
  const blocks = makeBlocks(text);
  const expanded = makeExpander(text);
  const included = blocks.filter(({ names, text: line }) =>
    names.length === 0 && /^(?:-?s?include|import)\s/.test(line)
  );
  return [
    ...included.map(({ text: line }) => line.replace(/^-?s?include|^import/, "include")),
    ...askedFor(blocks, words, text).recipes.map(expanded),
  ];
}

/** Replaces variables of a Makefile by what it gives them, `define` included, a few times over. */
function makeExpander(text: string): (recipe: string) => string {
  const values = new Map<string, string>();
  const joined = text.replaceAll("\\\n", " ");
  for (
    const [, name = "", value = ""] of joined.matchAll(
      /^(?:(?:export|override)\s+)*([\w.-]+)\s*(?:[?:+]|::)?=[ \t]*(.*)$/gm,
    )
  ) {
    values.set(name, value);
  }
  for (const [, name = "", value = ""] of text.matchAll(/^define\s+([\w.-]+)[^\n]*\n([^]*?)^endef/gm)) {
    values.set(name, value);
  }
  return (recipe) => {
    let found = recipe;
    let left = LONGEST_RECIPE;
    const valueOf = (whole: string, name: string): string => {
      const value = values.get(name) ?? whole;
      left -= value.length;
      return left < 0 ? whole : value;
    };
    for (let depth = 0; depth < VARIABLE_DEPTH; depth += 1) {
      found = found.replaceAll(/\$[({](?:call\s+)?([\w.-]+)[^(){}]*[)}]/g, valueOf);
    }
    return found;
  };
}

/** What words ask for, with all that it waits for, and the recipes of it. */
function askedFor(
  blocks: ReturnType<typeof makeBlocks>,
  words: readonly string[],
  text: string,
): { readonly found: ReadonlySet<string>; readonly recipes: readonly string[] } {
  const rules = blocks.filter(({ names }) => names.length > 0);
  const goal = /^\.DEFAULT_GOAL\s*:?=\s*(\S+)/m.exec(text)?.[1];
  const asked = words.filter((word) => rules.some(({ names }) => names.includes(word)));
  const waiting = asked.length > 0 ? [...asked] : [goal ?? rules[0]?.names[0] ?? ""];
  const found = new Set<string>();
  const recipes: string[] = [];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (found.has(name)) continue;
    found.add(name);
    for (const { names, text: rule } of rules) {
      if (!names.includes(name)) continue;
      const [head = "", ...recipe] = rule.split("\n");
      const [needed = "", ...inline] = head.slice(head.indexOf(":") + 1).split(";");
      waiting.push(...needed.split(/\s+/).filter((word) => word !== ""));
      recipes.push(
        [inline.join(";"), ...recipe].map((line) =>
          line.trim().replace(/^[@+-]+/, "").replaceAll(/\$[({]MAKE[)}]/g, "make")
        ).join("\n"),
      );
    }
  }
  return { found, recipes };
}

function scriptText(script: unknown): string {
  if (isObject(script) && typeof script["command"] === "string") return script["command"];
  return Array.isArray(script) ? script.join("\n") : String(script);
}
