/**
 * Runs one command in order: signals, errors as text, help, arguments.
 *
 * @module
 */
import { redactorFor } from "../events/redact.ts";
import { wrapText } from "../ui/wrap_text.ts";
import { ERROR_DEFINITIONS } from "../errors/definitions.ts";
import { EXIT, notGenerated, RalphError } from "../errors/ralph_error.ts";
import { asNamed, unwritable } from "../host/file_errors.ts";
import { onSignals } from "../host/this_process.ts";
import type { Host } from "../host/types.ts";
import { printable, printablePainted, wantsColour } from "../ui/text.ts";
import { arityOf, type Command, type Invocation, parseLine, printed, type Program, usage } from "./command.ts";
import { commandHelp, helpColumns } from "./help.ts";
import { resolveRoot } from "./workspace.ts";

const FRAMES = 5;

/** A command is run with these, whatever its line says. */
export type Surroundings = Pick<Invocation, "host" | "out" | "program" | "say" | "signal">;

/**
 * Runs within a host. Never ends the process itself.
 *
 * The first SIGINT, SIGTERM or SIGHUP lets the command end in order; the second ends its children and returns at once.
 *
 * @returns the exit code: see `ralph help exit-codes`
 */
export async function guarded(
  argv: readonly string[],
  { host, program }: { readonly host: Host; readonly program: Program },
  run: (around: Surroundings) => Promise<number>,
): Promise<number> {
  const say = printer(argv, host, "stderr");
  const out = printer(argv, host, "stdout");
  const aborter = new AbortController();
  let force = (): void => {};
  const forced = new Promise<number>((resolve) => {
    force = () => resolve(EXIT.interrupted);
  });
  using _signals = onSignals(() => {
    if (!aborter.signal.aborted) return aborter.abort(new RalphError("interrupted"));
    void Promise.resolve(host.processes[Symbol.asyncDispose]()).finally(force);
  });
  const ended = run({ host, program, signal: aborter.signal, say, out })
    .catch((error: unknown) => {
      const reported = aborter.signal.aborted ? new RalphError("interrupted") : error;
      const failure = describeFailure(reported, { verbose: argv.includes("--verbose") });
      const redactor = redactorFor(host.environment.variables); // a recipe's own error may hold anything
      for (const line of failure.lines) say(redactor.text(line));
      return failure.exitCode;
    })
    .finally(() => host.processes[Symbol.asyncDispose]());
  const exitCode = await Promise.race([ended, forced]);
  const { unwritten } = host.terminal;
  const lost = unwritten === null
    ? null
    : describeFailure(unwritable("standard output", unwritten), { verbose: false });
  for (const line of lost?.lines ?? []) say(line);
  if (aborter.signal.aborted) return EXIT.interrupted;
  return exitCode === EXIT.done ? lost?.exitCode ?? exitCode : exitCode;
}

/**
 * Writes lines. Text of files and agents is in them: no control character of theirs reaches the terminal, and in JSON
 * it is spelled out as JSON does.
 */
function printer(argv: readonly string[], host: Host, stream: "stdout" | "stderr"): (text: string) => void {
  const colour = wantsColour(host.terminal.isTerminal(stream), host.environment, argv.includes("--no-color"));
  const safe = colour ? printablePainted : printable;
  const print = (text: string): void => host.terminal.write(stream, `${safe(text)}\n`);
  return stream === "stderr" ? wrapping(host, stream, print) : print; // standard output is data
}

/** In a terminal lines break between words. */
function wrapping(
  { terminal }: Host,
  stream: "stdout" | "stderr",
  print: (text: string) => void,
): (text: string) => void {
  if (!terminal.isTerminal(stream)) return print;
  return (text) => print(wrapText(text, terminal.size().columns));
}

/** Runs a command with its own line of arguments. @throws {RalphError} usage, and what the command throws */
export async function startCommand(command: Command, line: readonly string[], around: Surroundings): Promise<number> {
  try {
    return await parseAndRun(command, line, around);
  } catch (error) {
    const isUsage = RalphError.isInstance(error) && error.code === "usage";
    // A wrong line that has no hint of its own points to the command's help.
    if (!isUsage || error.hint !== ERROR_DEFINITIONS.usage.hint) throw error;
    throw new RalphError("usage", { details: error.details, hint: helpHint(command), cause: error });
  }
}

async function parseAndRun(command: Command, line: readonly string[], around: Surroundings): Promise<number> {
  const all = !("all" in command.flags) && line.some((word) => ["--help", "-h"].includes(word)) ? "--all" : null;
  const parsed = parseLine(command, line.filter((word) => word !== all), around.host.environment.variables);
  if (parsed.flags.has("help")) {
    const isWhole = all !== null && line.includes(all);
    return printed(around.out, commandHelp(command, helpColumns(around.host), isWhole));
  }
  checkArity(command, parsed.arguments);
  await checkInsideRun(command, { ...around, ...parsed });
  const { run } = await command.load();
  const isProse = command.isProse === true && !parsed.flags.has("json");
  const out = isProse ? wrapping(around.host, "stdout", around.out) : around.out;
  return await run({ ...around, ...parsed, out, command });
}

/** @throws {RalphError} usage for too few or too many arguments */
export function checkArity(command: Command, given: readonly string[]): void {
  const [least, most] = arityOf(command);
  if (given.length < least) throw usage(`\`ralph ${command.name}\` needs ${command.usage}`, helpHint(command));
  if (given.length <= most) return;
  const extra = given[most] as string;
  if (most === 0 && "max-iterations" in command.flags && /^\d+$/.test(extra)) {
    throw usage(
      `\`ralph ${command.name}\` takes no argument (got: ${extra})`,
      `did you mean \`--max-iterations ${extra}\`?`,
    );
  }
  if (command.usage?.startsWith('"<goal>"')) {
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

function helpHint({ helpLine, name }: Command): string {
  return `\`${helpLine ?? `ralph help ${name}`.trimEnd()}\` shows how it is used`;
}

/**
 * Inside a run, which its environment shows, a command of the same root only reads or claims: what writes or starts
 * something is the run's own.
 *
 * @throws {RalphError} inside-a-run
 */
async function checkInsideRun(
  { name, insideRun = false }: Command,
  invocation: Pick<Invocation, "arguments" | "flags" | "host" | "program">,
): Promise<void> {
  const { RALPH_RUN: run, RALPH_ROOT: root } = invocation.host.environment.variables;
  if (run === undefined || root === undefined) return;
  if (typeof insideRun === "boolean" ? insideRun : insideRun.includes(invocation.arguments[0] ?? "")) return;
  if (await resolveRoot(invocation) !== root) return;
  throw new RalphError("inside-a-run", { details: { command: name, run } });
}

/** Turns whatever was thrown into text: the table's message and hint, or a bug with its stack. */
function describeFailure(error: unknown, { verbose }: { readonly verbose: boolean }) {
  const named = notGenerated(error) ?? asNamed(error);
  const isBug = named !== error && named.code === "internal";
  const hasStack = isBug || verbose && named.exitCode === EXIT.internal;
  const stack = hasStack ? stackOf(named.cause ?? named, verbose) : [];
  return {
    lines: [`error: ${isBug ? "internal: " : ""}${named.message}`, ...stack, `hint: ${named.hint}`],
    exitCode: named.exitCode,
  };
}

function stackOf(error: unknown, whole: boolean): readonly string[] {
  const stack = error instanceof Error ? error.stack ?? "" : "";
  const frames = stack.split("\n").filter((line) => /^\s+at /.test(line)).map((line) => `  ${line.trim()}`);
  if (whole || frames.length <= FRAMES) return frames;
  return [...frames.slice(0, FRAMES), `  … ${frames.length - FRAMES} more (\`--verbose\` shows them)`];
}
