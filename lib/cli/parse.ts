import { parseArgs } from "@std/cli/parse-args";
import { nearest } from "../errors/nearest.ts";
import { RalphError } from "../errors/ralph_error.ts";
import { arityOf, type Command, type Flag, type Flags } from "./command.ts";

/** The content of one command line. */
export interface ParsedLine {
  readonly arguments: readonly string[];
  readonly flags: Flags;
  /** An open command hands these on: unknown flags, and all that follows the first argument. */
  readonly rest: readonly string[];
}

/**
 * Reads the arguments after the command's name by its flag table, then the environment's stand-ins.
 * @throws {RalphError} usage
 */
export function parseLine(
  command: Command,
  line: readonly string[],
  variables: Readonly<Record<string, string | undefined>>,
): ParsedLine {
  const flags = Object.entries(command.flags);
  const named = (isMeant: (flag: Flag) => boolean): string[] =>
    flags.filter(([, flag]) => isMeant(flag)).map(([name]) => name);
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
function joinValues(
  line: readonly string[],
  command: Command,
): Pick<ParsedLine, "rest"> & { readonly words: readonly string[] } {
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

function fromEnvironment(
  flag: Flag,
  variables: Readonly<Record<string, string | undefined>>,
): readonly string[] | null {
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

/** Carries out a command's verb with the words behind it. */
export type Verb<Given> = (given: Given, words: readonly string[]) => Promise<number>;

/** The verb of a command that has several. @throws {RalphError} usage for one that it has not */
export function verbOf<Given>(
  verbs: Readonly<Record<string, Verb<Given>>>,
  command: string,
  named: string,
): Verb<Given> {
  const verb = Object.hasOwn(verbs, named) ? verbs[named] : undefined;
  if (verb !== undefined) return verb;
  const names = Object.keys(verbs);
  const hint = didYouMean(named, names, `verbs: ${names.join(", ")}`, (near) => `ralph ${command} ${near}`);
  throw usage(`\`ralph ${command}\` has no \`${named}\``, hint);
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
