import { quoted } from "../agents/program.ts";
import { RalphError } from "../errors/ralph_error.ts";
import type { Host } from "../host/types.ts";
import { type CommandLine, type Invocation, parseLine, type Program } from "./command.ts";
import { AGENT_FLAGS, LOOP_FLAGS, PLACE_FLAGS } from "./flags.ts";
import { checkArity } from "./run_command.ts";
import { chooseWorkflow } from "./workspace.ts";

/** These hold for one command alone. */
const ONCE: readonly string[] = ["record", "no-wait", "retry-blocked", "accept-changes", "interactive"];
/** Flags without which a command that continues would do something else. */
const KEPT = Object.keys({ ...PLACE_FLAGS, ...AGENT_FLAGS, ...LOOP_FLAGS }).filter((name) => !ONCE.includes(name))
  .concat("scope", "ask");

/** A command of Ralph's with those flags of this command line that it takes as well: as printed it works. Pure. */
export function withFlags(
  { flags, host, program }: Pick<Invocation, "flags" | "host" | "program">,
  line: string,
): string {
  const [, name = "", ...words] = line.split(" ");
  const command = program.commands.find((one) => one.name === name);
  if (command === undefined) return line;
  const given = KEPT.filter((flag) => flag in command.flags && !words.includes(`--${flag}`)).flatMap((flag) => {
    const { type, variable } = command.flags[flag]!;
    const values = flags.all(flag);
    if (values.length === 0 || (variable !== undefined && host.environment.variables[variable] !== undefined)) {
      return [];
    }
    const isSecret = values.some((value) => URL.canParse(value) && new URL(value).password !== "");
    if (isSecret) return []; // a line that is printed is copied and kept
    return values.map((value) => type === "boolean" ? `--${flag}` : `--${flag} ${quoted(value)}`);
  });
  return [line, ...given].join(" ");
}

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
