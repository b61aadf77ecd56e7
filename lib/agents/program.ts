/**
 * Which program an agent is, without what a turn of it needs.
 *
 * @module
 */
import { realPathOf } from "../host/bubblewrap.ts";
import { words } from "../host/data.ts";
import { findExecutable } from "../host/shell.ts";
import type { Host } from "../host/types.ts";
import type { Adapter } from "./adapter.ts";

const SHELL_WORDS = new Set(words(`
  ! { ( (( [[ [ . : alias bg break builtin case cd command declare eval exec exit export false fg for
  function getopts hash if jobs kill let local printf echo pwd read readonly return set shift shopt
  source test time times trap true type typeset ulimit umask unalias unset until wait while
`));

const ASSIGNMENT_REGEXP = /^[A-Za-z_][A-Za-z0-9_]*=(?:"[^"$`\\]*"|'[^']*'|[^\s"'$`\\;&|<>()]*)\s+/;

const WORD_REGEXP = /^(?:"([^"$`\\]+)"|'([^']+)'|([^\s"'$`\\;&|<>()*?~[\]{}#]+))(?=[\s;&|<>)]|$)/;

/** The path of an adapter's program, or `null`. */
export async function programPath(adapter: Adapter, { environment }: Host, root: string): Promise<string | null> {
  const program = programName(adapter);
  return program === null ? null : await findExecutable(program, environment, root);
}

/** The name of an adapter's program, `null` for Ralph itself. */
export function programName({ name, program = name }: Adapter): string | null {
  return program;
}

/** The program that a command line starts with, or `null` where only the shell knows. */
export function commandWord(command: string): string | null {
  let rest = command.trim();
  while (ASSIGNMENT_REGEXP.test(rest)) rest = rest.replace(ASSIGNMENT_REGEXP, "");
  const match = WORD_REGEXP.exec(rest);
  const word = match?.[1] ?? match?.[2] ?? match?.[3] ?? null;
  return word === null || SHELL_WORDS.has(word) || word.includes("=") ? null : word;
}

/** The place that a program is installed in: the folder of packages that its link leads into, or the program itself. */
export function packageOf(program: string): string {
  const real = realPathOf(program) ?? program;
  const at = real.indexOf("/node_modules/");
  return at < 0 ? real : real.slice(0, at + "/node_modules".length);
}
