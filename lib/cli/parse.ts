import { parseArgs } from "@std/cli/parse-args";
import { RalphError } from "../errors/ralph_error.ts";
import { arityOf, type Command, type Flag, type Flags, type FlagTable } from "./command.ts";
import { nearest } from "../errors/nearest.ts";

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
  const table = command.flags;
  const { own, rest } = command.open === true ? splitOpen(line, table) : { own: line, rest: [] };
  const joined = joinValues(own, table, command);
  const names = Object.keys(table);
  const parsed = parseArgs([...joined], {
    string: ["_", ...names.filter((name) => table[name]?.type !== "boolean")],
    boolean: names.filter((name) => table[name]?.type === "boolean"),
    collect: names.filter((name) => table[name]?.many === true),
  });
  const given = new Map<string, readonly string[]>();
  for (const name of names) {
    const flag = table[name] as Flag;
    const displaced = flag.rival !== undefined && parsed[flag.rival] !== undefined;
    const values = valuesOf(parsed[name], flag) ?? (displaced ? null : fromEnvironment(flag, variables));
    if (values !== null) given.set(name, checked(name, flag, values));
  }
  return {
    arguments: (parsed["_"] as readonly unknown[]).map(String),
    flags: {
      has: (name) => given.has(name),
      text: (name) => given.get(name)?.at(-1),
      all: (name) => given.get(name) ?? [],
    },
    rest,
  };
}

/**
 * Writes `--flag value` as `--flag=value`, so that a value may be empty, and puts booleans last, so that none swallows
 * the word after it (`--verbose true`; `--no-color=true` would be read as `color`).
 */
function joinValues(line: readonly string[], table: FlagTable, command: Command): readonly string[] {
  const words: string[] = [];
  const booleans: string[] = [];
  for (let index = 0; index < line.length; index++) {
    const word = line[index] as string;
    if (word === "--") return [...words, ...booleans, ...line.slice(index)];
    const [, name = "", value] = /^--([^=]+)(?:=(.*))?$/s.exec(word === "-h" ? "--help" : word) ?? [];
    const flag = Object.hasOwn(table, name) ? table[name] : undefined;
    if (flag === undefined) {
      if (/^-./.test(word)) throw unknownFlag(word, command);
      words.push(word);
    } else if (flag.type === "boolean") {
      if (value !== undefined && value !== "true" && value !== "false") {
        throw usage(`--${name} takes no value (got: ${value})`);
      }
      if (value !== "false") booleans.push(`--${name}`);
    } else if (value !== undefined) {
      words.push(word);
    } else {
      const next = line[index + 1];
      const taken = next !== undefined && (!/^-./.test(next) || NEGATIVE_REGEXP.test(next)) &&
        (flag.type !== "optional" || arityOf(command)[1] === 0 || /^-?\d+$/.test(next)); // else it may be an argument
      if (taken) index += 1;
      else if (flag.type === "text") throw valueMissing(name, flag, next, command);
      words.push(`--${name}=${taken ? next : ""}`);
    }
  }
  return [...words, ...booleans];
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

/** Cuts an open command's line after its first argument; flags before it must be the command's own. */
function splitOpen(line: readonly string[], table: FlagTable): { own: readonly string[]; rest: readonly string[] } {
  for (let index = 0; index < line.length; index++) {
    const word = line[index] as string;
    if (!word.startsWith("-")) return { own: line.slice(0, index + 1), rest: line.slice(index + 1) };
    const name = /^--([^=]+)$/.exec(word)?.[1];
    if (name !== undefined && table[name]?.type === "text") index += 1;
  }
  return { own: line, rest: [] };
}

function valuesOf(value: unknown, flag: Flag): readonly string[] | null {
  if (flag.type === "boolean") return value === true ? ["true"] : null;
  if (value === undefined) return null;
  const values = (Array.isArray(value) ? value : [value]).map(String);
  return values.length === 0 ? null : values;
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
