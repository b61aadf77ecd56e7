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

/** A module that the code imports is what is checked, where the code judges and the module does not. Pure. */
export function isChecked(code: string, path: string, text: string | null): boolean {
  return MODULE_REGEXP.test(path) && FAILS_REGEXP.test(code) && !COMPARES_REGEXP.test(text ?? "");
}
