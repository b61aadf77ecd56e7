/**
 * A command: a row of the command table, and a module that is loaded when the row is chosen. Nothing here imports
 * anything heavy: it is on the path of `ralph --version`.
 *
 * @module
 */
import { parseArgs } from "@std/cli/parse-args";
import type { Config } from "../config/load.ts";
import { EXIT, nearest, RalphError } from "../errors/ralph_error.ts";
import type { Host, Variables } from "../host/types.ts";
import type { RecipeRegistry } from "../recipe/loader.ts";
import { createStyle, type Style, wantsColour } from "../ui/text.ts";

/** One flag of a command. Its type is declared, so that `007` stays text and `--no-color x` leaves `x` alone. */
export interface Flag {
  /** `optional`: a text whose value may be left out (`--loop`). */
  readonly type: "boolean" | "text" | "optional";
  readonly summary: string;
  /** The value's name in help: `NAME`, `FILE`. */
  readonly value?: string;
  /** May be given more than once. */
  readonly many?: boolean;
  /** The only values allowed. */
  readonly choices?: readonly string[];
  /** The environment variable used in place of the flag. */
  readonly variable?: string;
  /** A flag that says the same thing in another way: given on the line, it puts this one's variable aside. */
  readonly rival?: string;
  /** `--flag=` and `--flag ""` mean something. @default false */
  readonly empty?: boolean;
  /** Help shows it first, where a command has many flags. @default false */
  readonly common?: boolean;
}

/** Flags by name, without the dashes. */
export type FlagTable = Readonly<Record<string, Flag>>;

/** The flags of the line, after the environment's stand-ins. Absent flags are absent. */
export interface Flags {
  /** True when the flag was given. */
  has(name: string): boolean;
  /** Value of a text flag, or `undefined`. */
  text(name: string): string | undefined;
  /** All values of a flag that may be repeated. */
  all(name: string): readonly string[];
}

/** A command's `run` is handed this. */
export interface Invocation extends ParsedLine {
  readonly command: Command;
  readonly program: Program;
  readonly host: Host;
  /** Aborts on SIGINT, SIGTERM and SIGHUP. */
  readonly signal: AbortSignal;
  /** Writes a line of data to standard output. */
  readonly out: (text: string) => void;
  /** Writes a line for people to standard error. */
  readonly say: (text: string) => void;
}

/** The file of a command exports this. */
export interface CommandModule {
  /** @returns the exit code, from the table in lib/errors/ralph_error.ts */
  readonly run: (invocation: Invocation) => Promise<number>;
}

/** One row of the command table. */
export interface Command {
  readonly name: string;
  /** One line, shown by `ralph help`. */
  readonly summary: string;
  /** Help lists it under this heading; those of `FIRST_GROUPS` are the first screen. */
  readonly group?: string;
  /** The arguments, as help shows them: `"<goal>"`. @default it takes none */
  readonly usage?: string;
  /** How many positional arguments it takes: least and most. @default the one of `usage`, which `[RUN]` lets out */
  readonly arity?: readonly [least: number, most: number];
  readonly flags: FlagTable;
  /** Lines below the usage in `ralph help COMMAND`. */
  readonly details?: readonly string[];
  /** The words after the first argument are handed on as they are: a recipe declares its own flags. */
  readonly open?: boolean;
  /** The command line that shows its flags. @default `ralph help NAME` */
  readonly helpLine?: string;
  /** It may be run inside of a run, by an agent or a hook: it only reads, or claims. A list: only with these first arguments. */
  readonly insideRun?: boolean | readonly string[];
  /** Its standard output is for people where there is no `--json`: in a terminal lines break between words. @default false */
  readonly isProse?: boolean;
  readonly load: () => Promise<CommandModule>;
}

/** How many positional arguments a command takes. */
export function arityOf({ usage = "", arity }: Command): readonly [least: number, most: number] {
  return arity ?? [usage === "" || usage.startsWith("[") ? 0 : 1, usage === "" ? 0 : 1];
}

/** The content of a command line, before anything is read from disk. */
export type CommandLine = Pick<Invocation, "arguments" | "command" | "flags" | "host">;

/** State of one goal. Paths are relative to the root. */
export interface RunState {
  /** Taken off the branch. */
  readonly files: readonly string[];
  /** Written by runs as well; what they hold outlives a run. */
  readonly kept: readonly string[];
  /** Ralph 0.1.0 moved the files into folders of this one. */
  readonly archive: string;
  /** Folders of `kept` that hold nothing, so that they go too. */
  unused(root: string): Promise<readonly string[]>;
}

/** Which part of a run is meant. */
export interface RunPartName {
  /** The name of the backlog or step in events and journal. */
  readonly name: string;
  /** Which one, where there are several. */
  readonly scope: string | null;
  /** The run's folder, relative to the root. */
  readonly folder: string;
}

/** A workflow as far as the framework needs it: to find a root, and to choose. */
export interface KnownWorkflow {
  readonly name: string;
  /** The path whose existence means that it is in use, in words. */
  readonly state: string;
  /** State of one goal, which `ralph finish` takes off the branch. Absent: its method keeps its state in the repository. */
  readonly runState?: RunState;
  /** The command that begins work in it. */
  readonly start: string;
  /** True if it is in use below this folder. @default `state` exists */
  detect?(root: string): Promise<boolean>;
  /** True if the configuration chooses it without its name. @default it never does */
  configured?(config: Config): boolean;
  /** Folders that hold its runs, relative to the root. @default none but `.ralph/runs` */
  runs?(root: string): Promise<readonly string[]>;
  /** The command that continues a part of a run, by its backlog's name; `null` for a part that is not its own. */
  resume?(part: RunPartName): Promise<string | null>;
  /** Its own commands: each is understood in this workflow only. */
  readonly commands: readonly Command[];
  /** Why a line of a shared command is understood in this workflow only, whatever is on disk; `null` where it is not. */
  claims?(line: CommandLine, root: string): Promise<string | null>;
}

/** The parts of the program, for commands that need to know the others. */
export interface Program {
  readonly commands: readonly Command[];
  /** The first is the default. */
  readonly workflows: readonly KnownWorkflow[];
  readonly recipes: RecipeRegistry;
}

/** The content of one command line. */
export interface ParsedLine {
  /** Positional arguments, always text. */
  readonly arguments: readonly string[];
  readonly flags: Flags;
  /** An open command hands these on as they were typed: unknown flags, and all that follows the first argument. */
  readonly rest: readonly string[];
}

/**
 * Reads the arguments after the command's name by its flag table, then the environment's stand-ins.
 * @throws {RalphError} usage
 */
export function parseLine(command: Command, line: readonly string[], variables: Variables): ParsedLine {
  const flags = Object.entries(command.flags);
  const named = (isMeant: (flag: Flag) => boolean) => flags.filter(([, flag]) => isMeant(flag)).map(([name]) => name);
  const { words, rest } = joinValues(line, command);
  const typed = parseArgs([...words], {
    string: ["_", ...named(({ type }) => type !== "boolean")],
    boolean: named(({ type }) => type === "boolean"),
    collect: named(({ many }) => many === true),
  });
  const given = new Map<string, readonly string[]>();
  for (const [name, flag] of flags) {
    const displaced = flag.rival !== undefined && typed[flag.rival] !== undefined;
    const values = valuesOf(typed[name]) ?? (displaced ? null : fromEnvironment(flag, variables));
    if (values !== null) given.set(name, checked(name, flag, values));
  }
  return {
    arguments: (typed["_"] as readonly unknown[]).map(String),
    flags: flagsFrom((name) => given.get(name) ?? []),
    rest,
  };
}

/** Flags by their values; one without any was not given. */
export function flagsFrom(all: Flags["all"]): Flags {
  return { all, has: (name) => all(name).length > 0, text: (name) => all(name).at(-1) };
}

/** `null`: the flag was not typed. */
function valuesOf(value: unknown): readonly string[] | null {
  if (value === undefined || value === false) return null;
  const values = (Array.isArray(value) ? value : [value]).map(String);
  return values.length === 0 ? null : values;
}

/**
 * Writes `--flag value` as `--flag=value`, so that a value may be empty, and puts booleans last, so that none takes the
 * word after it. An open command's line is cut after its first argument.
 */
function joinValues(line: readonly string[], command: Command) {
  const words: string[] = [];
  const booleans: string[] = [];
  for (let index = 0; index < line.length; index++) {
    const word = line[index] as string;
    if (word === "--") return { words: [...words, ...booleans, ...line.slice(index)], rest: [] };
    const [, name = "", value] = /^--([^=]+)(?:=(.*))?$/s.exec(word === "-h" ? "--help" : word) ?? [];
    const flag = Object.hasOwn(command.flags, name) ? command.flags[name] : undefined;
    if (flag === undefined) {
      if (/^-./.test(word)) throw unknownFlag(word, command);
      words.push(word);
      if (command.open === true) return { words: [...words, ...booleans], rest: line.slice(index + 1) };
    } else if (flag.type === "boolean") {
      if (value !== undefined && value !== "true" && value !== "false") {
        throw usage(`--${name} takes no value (got: ${value})`);
      }
      if (value !== "false") booleans.push(`--${name}`);
    } else {
      const next = value === undefined ? line[index + 1] : undefined;
      const taken = next !== undefined && (!/^-./.test(next) || NEGATIVE_REGEXP.test(next)) &&
        (flag.type !== "optional" || arityOf(command)[1] === 0 || /^-?\d+$/.test(next)); // else it may be an argument
      if (taken) index += 1;
      else if (value === undefined && flag.type === "text") throw valueMissing(name, flag, next, command);
      words.push(`--${name}=${value ?? (taken ? next : "")}`);
    }
  }
  return { words: [...words, ...booleans], rest: [] };
}

/** A value although it begins with `-`: its flag says better than "unknown flag" what is wrong with it. */
const NEGATIVE_REGEXP = /^-\.?\d/;

function valueMissing(name: string, flag: Flag, next: string | undefined, command: Command): RalphError {
  const isFlag = next === undefined || next === "--" || next === "-h" ||
    Object.hasOwn(command.flags, next.replace(/^--|=.*$/gs, ""));
  return usage(
    `--${name} needs a value: \`--${name} ${flag.value ?? "VALUE"}\``,
    isFlag ? undefined : `a value that begins with \`-\` is written with \`=\`: \`--${name}=${next}\``,
  );
}

function fromEnvironment(flag: Flag, variables: Variables): readonly string[] | null {
  const value = flag.variable === undefined ? undefined : variables[flag.variable];
  if (value === undefined || (value === "" && flag.empty !== true)) return null;
  if (flag.type === "boolean") return value === "0" || value === "false" ? null : ["true"];
  return [value];
}

function checked(name: string, flag: Flag, values: readonly string[]): readonly string[] {
  for (const value of values) {
    if (flag.type === "text" && value === "" && flag.empty !== true) throw usage(`--${name} must not be empty`);
    if (flag.choices !== undefined && !flag.choices.includes(value)) {
      throw usage(
        `--${name} must be one of ${flag.choices.join(", ")} (got: ${value})`,
        didYouMean(value, flag.choices, undefined, (near) => `--${name} ${near}`),
      );
    }
  }
  return values;
}

function unknownFlag(word: string, command: Command): RalphError {
  const name = word.replace(/=.*$/s, "");
  const help = command.helpLine ?? `ralph help ${command.name}`.trimEnd();
  return usage(
    `unknown flag \`${name}\`${command.name === "" ? "" : ` for \`ralph ${command.name}\``}`,
    didYouMean(
      name.replace(/^-+/, ""),
      Object.keys(command.flags),
      `\`${help}\` shows what there is`,
      (near) => `--${near}`,
    ),
  );
}

/** A hint that names the nearest of the words that are known, written as a command; where none is near, the other hint. */
export function didYouMean<Other extends string | undefined>(
  word: string,
  known: readonly string[],
  other: Other,
  write: (near: string) => string = (near) => near,
): string | Other {
  const near = nearest(word, known);
  return near === null ? other : `did you mean \`${write(near)}\`?`;
}

/** A wrong command line, with what to do about it. */
export function usage(problem: string, hint?: string): RalphError {
  return new RalphError("usage", { details: { problem }, ...(hint === undefined ? {} : { hint }) });
}

/**
 * The entry of a table that a person named.
 *
 * @param problem what is wrong with a name that is not there
 * @param all what the names are, for the hint: `schemas`
 * @param write a command line with another name
 * @throws {RalphError} usage
 */
export function entryOf<Value>(
  table: Readonly<Record<string, Value>>,
  name: string,
  problem: string,
  all: string,
  write?: (near: string) => string,
): Value {
  if (Object.hasOwn(table, name)) return table[name] as Value;
  const names = Object.keys(table);
  throw usage(problem, didYouMean(name, names, `${all}: ${names.join(", ")}`, write));
}

/** Carries out a command's verb with the words behind it. */
export type Verb<Given> = (given: Given, words: readonly string[]) => Promise<number>;

/** The verb of a command that has several. @throws {RalphError} usage for one that it has not */
export function verbOf<Given>(
  verbs: Readonly<Record<string, Verb<Given>>>,
  command: string,
  named: string,
): Verb<Given> {
  const problem = `\`ralph ${command}\` has no \`${named}\``;
  return entryOf(verbs, named, problem, "verbs", (near) => `ralph ${command} ${near}`);
}

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

/** How this command line's text is drawn on one of the two streams. */
export function styleFor({ flags, host }: Pick<Invocation, "flags" | "host">, stream: "stdout" | "stderr"): Style {
  return createStyle({
    colour: wantsColour(host.terminal.isTerminal(stream), host.environment, flags.has("no-color")),
    ascii: flags.has("ascii"),
  });
}

/** Prints the last of a command that went well. @returns its exit code */
export function printed(print: (text: string) => void, text: string): number {
  print(text);
  return EXIT.done;
}

/** Data as JSON, two spaces, for `--json`. */
export function toJson(data: unknown): string {
  return JSON.stringify(data, null, 2);
}
