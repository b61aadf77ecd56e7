import type { Command } from "../cli/command.ts";

/** The command's name and the rest of the line, flags before the name included. `null`: no command was named. */
export function splitCommand(
  argv: readonly string[],
  commands: readonly Command[],
): { readonly name: string | null; readonly line: readonly string[] } {
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index] as string;
    if (word === "--") break;
    if (!word.startsWith("-")) return { name: word, line: [...argv.slice(0, index), ...argv.slice(index + 1)] };
    const flag = word.slice(2);
    if (commands.some((command) => Object.hasOwn(command.flags, flag) && command.flags[flag]?.type === "text")) {
      index += 1;
    }
  }
  return { name: null, line: argv };
}
