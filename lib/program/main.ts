/**
 * The command line's entry: argv and a host in, an exit code out.
 * Only the argument parser and the table are loaded here; a command's own module is loaded when it is chosen.
 *
 * @module
 */
import * as cli from "../cli/command.ts";
import { generalHelp, helpColumns, wholeHelp } from "../cli/help.ts";
import { guarded, startCommand, type Surroundings } from "../cli/run_command.ts";
import { VERSION } from "../host/version.ts";
import { findPlace } from "../cli/workspace.ts";
import { EXIT, RalphError } from "../errors/ralph_error.ts";
import { AGENT_COMMAND } from "../host/this_process.ts";
import type { Host } from "../host/types.ts";
import { DEFAULT_WORKFLOW, WORKFLOWS } from "../workflows/table.ts";
import { COMMANDS, findCommand } from "./commands.ts";
import { OWN_MODULES } from "./own_modules.ts";
import { SHIPPED_RECIPES } from "./shipped_recipes.ts";

const PROGRAM: cli.Program = {
  commands: COMMANDS,
  workflows: WORKFLOWS,
  recipes: { shipped: SHIPPED_RECIPES, modules: OWN_MODULES },
};

/** Runs one command line. @returns the exit code: see `ralph help exit-codes` */
export async function main(argv: readonly string[], host: Host): Promise<number> {
  const [word, ...rest] = argv;
  if (word === AGENT_COMMAND) { // Ralph as its own agent: not in the table, since only Ralph starts it
    const { runAgentProcess } = await import("../agents/builtin/agent_process.ts");
    return await guarded([], { host, program: PROGRAM }, (around) => runAgentProcess(rest[0] ?? "", around));
  }
  const exitCode = await guarded(argv, { host, program: PROGRAM }, (around) => dispatch(argv, around));
  const isHook = word === "gate" && rest.includes("--hook");
  return isHook && exitCode === EXIT.usage ? EXIT.failed : exitCode; // 2 of a Stop hook means: do not stop, however often
}

async function dispatch(argv: readonly string[], around: Surroundings): Promise<number> {
  const { name, line } = cli.splitCommand(argv, COMMANDS);
  if (name === null) {
    if (line.includes("--version") || line.includes("-V")) return cli.printed(around.out, VERSION);
    if (line.includes("--help") || line.includes("-h")) {
      const help = line.includes("--all") ? wholeHelp : generalHelp;
      return cli.printed(around.out, help(COMMANDS, helpColumns(around.host)));
    }
    return await bare(line, around);
  }
  if (name === "version" && line.length === 0) return cli.printed(around.out, VERSION);
  const command = findCommand(name);
  if (command === undefined) throw unknownCommand(name);
  return await startCommand(command, line, around);
}

/** Without a command: the workflow's own, where it has one; else the status, and what there is. */
async function bare(line: readonly string[], around: Surroundings): Promise<number> {
  const own = await bareCommand(line, around);
  if (own !== null) return await startCommand(own, line, around);
  const status = findCommand("status") as cli.Command;
  if (!line.includes("--json")) around.say(`${generalHelp(COMMANDS, helpColumns(around.host))}\n`);
  return await startCommand({ ...status, name: "" }, line, around);
}

/** Only the flag or the configuration says that `ralph` alone is a command. */
async function bareCommand(line: readonly string[], around: Surroundings): Promise<cli.Command | null> {
  for (const { name, bare } of WORKFLOWS) {
    if (bare === undefined) continue;
    try {
      const { flags } = cli.parseLine(bare, line, around.host.environment.variables);
      if (flags.has("help")) continue;
      const asked: cli.CommandLine = { command: { ...bare, name: "" }, arguments: [], flags, host: around.host };
      const named = flags.text("workflow") ?? (await findPlace({ ...asked, program: around.program })).config.workflow;
      if (named === name) return bare;
    } catch (error) {
      if (!RalphError.isInstance(error)) throw error; // `ralph status` says what is wrong
    }
  }
  return null;
}

function unknownCommand(name: string): RalphError {
  const start = (goal: string): string => `\`${DEFAULT_WORKFLOW.start.replace("<goal>", goal)}\``;
  if (/\s/.test(name)) return cli.usage(`\`${name}\` is not a command`, `did you mean ${start(name)}?`);
  const other = `\`ralph help\` lists the commands; a goal is given as ${start("<goal>")}`;
  const names = COMMANDS.map((command) => command.name);
  return cli.usage(`unknown command \`${name}\``, cli.didYouMean(name, names, other, (near) => `ralph ${near}`));
}
