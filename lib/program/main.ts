/**
 * The command line's entry: argv and a host in, an exit code out.
 * Only the argument parser and the table are loaded here; a command's own module is loaded when it is chosen.
 *
 * @module
 */
import { EXIT } from "../errors/exit_codes.ts";
import { RalphError } from "../errors/ralph_error.ts";
import { onSignals } from "../host/signals.ts";
import type { Host } from "../host/types.ts";
import type { Command, Invocation } from "../cli/command.ts";
import { COMMANDS, findCommand } from "./commands.ts";
import { describeFailure } from "./failure.ts";
import { commandHelp, generalHelp } from "../cli/help.ts";
import { parseLine, usage } from "../cli/parse.ts";
import { checkInsideRun } from "./inside_run.ts";
import { splitCommand } from "./split_command.ts";
import { nearest } from "../cli/suggest.ts";
import { VERSION } from "../cli/version.ts";

/**
 * Runs one command line. Never ends the process itself.
 *
 * The first SIGINT, SIGTERM or SIGHUP lets the command end in order; the second ends its children and returns at once.
 *
 * @returns the exit code: see `ralph help exit-codes`
 */
export async function main(argv: readonly string[], host: Host): Promise<number> {
  return await guarded(argv, host, (around) => dispatch(argv, around));
}

/** Runs one command that stands in no table: a recipe file that is the program itself. */
export async function runCommand(command: Command, line: readonly string[], host: Host): Promise<number> {
  return await guarded(line, host, (around) => start(command, line, around));
}

async function guarded(
  argv: readonly string[],
  host: Host,
  run: (around: Surroundings) => Promise<number>,
): Promise<number> {
  const say = (text: string): void => host.terminal.write("stderr", `${text}\n`);
  const out = (text: string): void => host.terminal.write("stdout", `${text}\n`);
  const aborter = new AbortController();
  let force = (): void => {};
  const forced = new Promise<number>((resolve) => {
    force = () => resolve(EXIT.interrupted);
  });
  using _signals = onSignals(() => {
    if (!aborter.signal.aborted) return aborter.abort(new RalphError("interrupted"));
    void Promise.resolve(host.processes[Symbol.asyncDispose]()).finally(force);
  });
  const ended = run({ host, signal: aborter.signal, say, out })
    .catch((error: unknown) => {
      const told = aborter.signal.aborted ? new RalphError("interrupted") : error;
      const failure = describeFailure(told, { verbose: argv.includes("--verbose") });
      for (const line of failure.lines) say(line);
      return failure.exitCode;
    })
    .finally(() => host.processes[Symbol.asyncDispose]());
  const exitCode = await Promise.race([ended, forced]);
  return aborter.signal.aborted ? EXIT.interrupted : exitCode;
}

type Surroundings = Pick<Invocation, "host" | "signal" | "say" | "out">;

async function dispatch(argv: readonly string[], around: Surroundings): Promise<number> {
  const { name, line } = splitCommand(argv, COMMANDS);
  if (name === null) {
    if (line.includes("--version") || line.includes("-V")) return printed(around, VERSION);
    if (line.includes("--help") || line.includes("-h")) return printed(around, generalHelp(COMMANDS));
    return await bare(line, around);
  }
  const command = findCommand(name);
  if (command === undefined) throw unknownCommand(name);
  return await start(command, line, around);
}

async function start(command: Command, line: readonly string[], around: Surroundings): Promise<number> {
  const parsed = parseLine(command, line, around.host.environment.variables);
  if (parsed.flags.has("help")) return printed(around, commandHelp(command));
  checkArity(command, parsed.arguments);
  await checkInsideRun(command, parsed, around.host);
  const { run } = await command.load();
  return await run({ ...around, command, arguments: parsed.arguments, rest: parsed.rest, flags: parsed.flags });
}

/** Without a command: where things stand, and what there is. */
async function bare(line: readonly string[], around: Surroundings): Promise<number> {
  const { wantsBuild } = await import("./wants_build.ts");
  if (await wantsBuild(line, around.host)) return await start(findCommand("build") as Command, line, around);
  const status = findCommand("status") as Command;
  const exitCode = await start({ ...status, name: "" }, line, around);
  around.say('\n`ralph help` lists the commands; `ralph exec "<goal>"` takes a goal to verified, committed code');
  return exitCode;
}

function checkArity(command: Command, given: readonly string[]): void {
  const [least, most] = command.arity;
  if (given.length < least) throw usage(`\`ralph ${command.name}\` needs ${command.usage}`, helpHint(command));
  if (given.length <= most) return;
  const extra = given[most] as string;
  if (most === 0 && "max-iterations" in command.flags && /^\d+$/.test(extra)) {
    throw usage(
      `\`ralph ${command.name}\` takes no argument (got: ${extra})`,
      `did you mean \`--max-iterations ${extra}\`?`,
    );
  }
  if (command.usage.startsWith('"<goal>"')) {
    throw usage(
      `the goal must be one argument (got ${given.length})`,
      `quote it: \`ralph ${command.name} "${given.join(" ")}"\``,
    );
  }
  throw usage(
    most === 0
      ? `\`ralph ${command.name}\` takes no argument (got: ${extra})`
      : `\`ralph ${command.name}\` takes ${command.usage} and no more (got: ${extra})`,
    helpHint(command),
  );
}

function helpHint(command: Command): string {
  return `\`ralph help ${command.name}\` shows how it is used`;
}

function unknownCommand(name: string): RalphError {
  if (/\s/.test(name)) return usage(`\`${name}\` is not a command`, `did you mean \`ralph exec "${name}"\`?`);
  const near = nearest(name, COMMANDS.map((command) => command.name));
  return usage(
    `unknown command \`${name}\``,
    near === null
      ? '`ralph help` lists the commands; a goal is given as `ralph exec "<goal>"`'
      : `did you mean \`ralph ${near}\`?`,
  );
}

function printed({ out }: Surroundings, text: string): number {
  out(text);
  return EXIT.done;
}
