import { posix } from "node:path";

/** A program that takes code as an argument: `node -e`, `python3 -c`. */
const INTERPRETER_REGEXP = /^(?:node|bun|deno|python[\d.]*|ruby|perl)$/;
const CODE_FLAG_REGEXP = /^(?:-\w*[cep]|--eval|--print|eval)$/;
const LITERAL_REGEXP = /(["'`])([^"'`\s]+)\1/g;
const PYTHON_IMPORT_REGEXP = /\b(?:from|import)\s+([\w.]+(?:\s*,\s*[\w.]+)*)/g;
const MODULE_REGEXP = /\.(?:[cm]?[jt]sx?|py|rb|pm)$/;
/** What compares: in a module it makes a checker of it. */
const COMPARES_REGEXP = /\bassert|\bexpect\s*\(|\bunittest\b/;
/** Code that fails by itself where something is wrong. */
const FAILS_REGEXP = /\bassert|\bexpect\s*\(|\bunittest\b|\bexit\w*\b/;
/** Says what is right: a comparison, or a function that makes one. */
const EXPECTED_REGEXP =
  /[=!]=|(?<!=)[<>]|\b\w*(?:[eE]quals?|[mM]atch\w*|toBe\w*|[tT]hrows?|[rR]aises|[iI]ncludes|[cC]ontains)\s*\(|\bassert\b(?:(?!\bfor\b)[^;\n])*\s(?:in|is)\s/;
/** Only whether something else says that it is right: `== True`, `=== 0`. */
const BARE_RESULT_REGEXP =
  /(?:[=!]==?|\bis(?:\s+not)?|[<>]=?)\s*(?:True|true|False|false|None|null|undefined|0|1)(?![\w.])|=>/g;
const LOOKS_REGEXP =
  /\bopen\s*\(|\bsubprocess\b|\bos\.(?:path|system|popen|listdir|walk|spawn)|\bimportlib\b|\bexec\s*\(|\bPath\s*\(|\bglob\b|\b(?:readFile|exists|readdir|spawn|exec)(?:File)?(?:Sync)?\s*\(|\bBun\.(?:file|spawn)|\bDeno\.\w/;

/** Whether the next word is code, and no shell command. Pure. */
export function takesCode(words: readonly string[]): boolean {
  return CODE_FLAG_REGEXP.test(words.at(-1) ?? "") &&
    words.some((word) => INTERPRETER_REGEXP.test(posix.basename(word)));
}

/** What is behind the flags of `node -e` and `python3 -c`. Pure. */
export function codeIn(program: string, words: readonly string[]): readonly string[] {
  return words.filter((_, at) => at > 0 && takesCode([program, ...words.slice(0, at)]));
}

/** Words of code that may be paths: text in quotes, and modules of Python. Pure. */
export function namesIn(code: string): readonly string[] {
  const literals = [...code.matchAll(LITERAL_REGEXP)].map(([, , text = ""]) => text);
  const modules = [...code.matchAll(PYTHON_IMPORT_REGEXP)].flatMap(([, list = ""]) => list.split(/\s*,\s*/));
  return [...new Set([...literals, ...modules])];
}

/**
 * Whether a module that the code imports is what is checked, and no checker. Pure.
 *
 * It is, where the code says itself what is expected, or the module could not know it: it looks at nothing else, or has
 * not what the code takes from it. What compares is a checker in any case.
 *
 * @param looksElsewhere the module reads or runs other files
 */
export function isChecked(code: string, path: string, text: string, looksElsewhere: boolean): boolean {
  if (!MODULE_REGEXP.test(path) || COMPARES_REGEXP.test(text)) return false;
  if (FAILS_REGEXP.test(code) && EXPECTED_REGEXP.test(code.replaceAll(BARE_RESULT_REGEXP, ""))) return true;
  const module = posix.basename(path).replace(MODULE_REGEXP, "");
  return !looksElsewhere || !takenFrom(module, code).every((name) => new RegExp(`\\b${name}\\b`).test(text));
}

/** Reads files, or starts programs, by a library. Pure. */
export function looksAround(text: string): boolean {
  return LOOKS_REGEXP.test(text);
}

/** The names that code takes from a module. */
function takenFrom(module: string, code: string): readonly string[] {
  const lists = [
    ...[...code.matchAll(/\bfrom\s+([\w.]+)\s+import\s+([\w, ]+)/g)].map(([, from = "", list = ""]) =>
      from.split(".").at(-1) === module ? list : ""
    ),
    ...[...code.matchAll(/\{([^{}]*)\}\s*(?:from\b|=\s*(?:await\s+)?(?:require|import)\b)/g)].map(([, list = ""]) =>
      list
    ),
  ];
  const named = lists.flatMap((list) => list.split(",").map((one) => /\w+/.exec(one)?.[0] ?? ""));
  const reached = [...code.replaceAll(LITERAL_REGEXP, "").matchAll(/\b(\w+)\.(\w+)/g)].flatMap(([, of, name = ""]) =>
    of === module ? [name] : []
  );
  return [...named, ...reached].filter((name) => name !== "");
}
