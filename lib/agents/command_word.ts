/** Words that a shell knows itself, and that begin a command whose program is not the first word. */
const SHELL_WORDS = new Set(
  (
    "! { ( (( [[ [ . : alias bg break builtin case cd command declare eval exec exit export false fg for " +
    "function getopts hash if jobs kill let local printf echo pwd read readonly return set shift shopt " +
    "source test time times trap true type typeset ulimit umask unalias unset until wait while"
  ).split(" "),
);

const ASSIGNMENT_REGEXP = /^[A-Za-z_][A-Za-z0-9_]*=(?:"[^"$`\\]*"|'[^']*'|[^\s"'$`\\;&|<>()]*)\s+/;
const WORD_REGEXP = /^(?:"([^"$`\\]+)"|'([^']+)'|([^\s"'$`\\;&|<>()*?~[\]{}#]+))(?=[\s;&|<>)]|$)/;

/** The program that a command line starts with, or `null` where only the shell can tell. */
export function commandWord(command: string): string | null {
  let rest = command.trim();
  while (ASSIGNMENT_REGEXP.test(rest)) rest = rest.replace(ASSIGNMENT_REGEXP, "");
  const match = WORD_REGEXP.exec(rest);
  const word = match?.[1] ?? match?.[2] ?? match?.[3] ?? null;
  return word === null || SHELL_WORDS.has(word) || word.includes("=") ? null : word;
}
