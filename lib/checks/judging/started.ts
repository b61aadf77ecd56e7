import { posix } from "node:path";
import type { SimpleCommand } from "./shell_commands.ts";

/** Programs that run the file, or the folder, that they are given. */
export const INTERPRETERS_REGEXP: RegExp = /^(?:\.|source|(?:ba|da|z|k)?sh|node|bun|deno|python[\d.]*|ruby|perl|bats)$/;

/** Only what is itself a list of commands is followed: imports of a program are not. Pure. */
export function isShell(path: string, text: string): boolean {
  if (/\.(?:sh|bash|zsh|bats|mk|cmd|bat|ps1)$/.test(path)) return true;
  return /^#!.*\b(?:sh|bash|dash|zsh|ksh|make)\b/.test(text) || !/\.\w+$/.test(path);
}

/** The program, and the module that an interpreter runs by its name. Pure. */
export function startedPrograms({ program, words }: SimpleCommand): readonly string[] {
  const at = INTERPRETERS_REGEXP.test(program) ? words.indexOf("-m") : -1;
  return [program, ...at < 0 ? [] : words.slice(at + 1, at + 2)].filter((name) => !name.includes("/"));
}

/** The files by which an interpreter begins with a folder: `python3 qa`, `python3 -m qa`, `node qa`. Pure. */
export function mainFiles({ program }: SimpleCommand, folder: string): readonly string[] {
  const names = program.startsWith("python")
    ? ["__main__.py"]
    : /^(?:node|bun|deno)$/.test(program)
    ? ["index.js", "index.mjs", "index.cjs", "index.ts"]
    : [];
  return names.map((name) => posix.join(folder, name));
}

/** `find qa -exec sh {} \\;` Pure. */
export function runsWhatItFinds({ program, words }: SimpleCommand): boolean {
  const at = words.findIndex((word) => /^-(?:exec|ok)(?:dir)?$/.test(word));
  return program === "find" && at >= 0 && INTERPRETERS_REGEXP.test(words[at + 1] ?? "") && words[at + 2] !== "-n";
}
