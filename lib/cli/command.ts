/**
 * A command: a row of the command table, and a module that is loaded when the row is chosen. Nothing here imports
 * anything heavy: it is on the path of `ralph --version`.
 *
 * @module
 */
import type { Host } from "../host/types.ts";
import type { RecipeRegistry } from "../recipe/registry.ts";
import type { Config } from "../config/types.ts";

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
export interface Invocation {
  readonly command: Command;
  /** Positional arguments, always text. */
  readonly arguments: readonly string[];
  /** The words after the first argument of an open command, as they were typed. */
  readonly rest: readonly string[];
  readonly flags: Flags;
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
  /** @returns the exit code, from the table in lib/errors/exit_codes.ts */
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

/** A workflow as far as the framework needs it: to find a root, and to choose. */
export interface KnownWorkflow {
  readonly name: string;
  /** The path whose existence means that it is in use, in words. */
  readonly state: string;
  /** The command that begins work in it. */
  readonly start: string;
  /** True if it is in use below this folder. @default `state` exists */
  detect?(root: string): Promise<boolean>;
  /** True if the configuration chooses it without its name. @default it never does */
  configured?(config: Config): boolean;
  /** Folders that hold its runs, relative to the root. @default none but `.ralph/runs` */
  runs?(root: string): Promise<readonly string[]>;
  /** The command that continues a part of a run, by its backlog's name; `null` for a part that is not its own. */
  resume?(
    part: { readonly name: string; readonly scope: string | null; readonly folder: string },
  ): Promise<string | null>;
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
