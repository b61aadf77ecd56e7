import type { Host } from "../host/types.ts";
import { RalphError } from "../errors/ralph_error.ts";
import type { CommandLine, Program } from "./command.ts";
import { parseLine } from "./parse.ts";
import { checkArity } from "./run_command.ts";
import { chooseWorkflow } from "./workflow.ts";

const PRINTED_REGEXP = /`(ralph(?: [^`]*)?)`/g;

/** The place that a command is printed for, and the workflow. */
export interface PrintedFor {
  /** The workflow that the command is meant for. */
  readonly name: string;
  /** The one that the configuration names. */
  readonly config: string | undefined;
  readonly program: Program;
  readonly root: string;
  readonly host: Host;
}

/** Each command in a text with `--workflow`, if the bare one would choose another workflow. */
export async function withWorkflow(text: string, place: PrintedFor): Promise<string> {
  const changed = new Map<string, string>();
  for (const [, line = ""] of text.matchAll(PRINTED_REGEXP)) changed.set(line, await completed(line, place));
  return text.replaceAll(PRINTED_REGEXP, (_, line: string) => `\`${changed.get(line) ?? line}\``);
}

async function completed(line: string, { name, config, program, root, host }: PrintedFor): Promise<string> {
  const read = readCommand(line, program, host);
  if (read === null || !("workflow" in read.command.flags) || read.flags.has("workflow")) return line;
  const bare = await chooseWorkflow(program.workflows, root, { config, line: { ...read, host } });
  return bare.name === name ? line : `${line} --workflow ${name}`;
}

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
