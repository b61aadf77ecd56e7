import { RalphError } from "../errors/ralph_error.ts";
import type { Host } from "../host/types.ts";
import type { CommandLine, Program } from "./command.ts";
import { parseLine } from "./parse.ts";
import { checkArity } from "./run_command.ts";

const WORD_REGEXP = /"([^"]*)"|'([^']*)'|(\S+)/g;

/** A command as Ralph prints it, read by its own table; `null`: the table does not take it. */
export function readCommand(
  line: string,
  { commands }: Pick<Program, "commands">,
  host: Pick<Host, "environment">,
): Pick<CommandLine, "arguments" | "command" | "flags"> | null {
  const [, name, ...words] = [...line.matchAll(WORD_REGEXP)].map(([, double, single, bare]) =>
    double ?? single ?? bare ?? ""
  );
  const command = commands.find((one) => one.name === name);
  if (command === undefined) return null;
  try {
    const { arguments: given, flags } = parseLine(command, words, host.environment.variables);
    checkArity(command, given);
    return { command, arguments: given, flags };
  } catch (error) {
    if (RalphError.isInstance(error)) return null;
    throw error;
  }
}
