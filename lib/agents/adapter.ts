/**
 * An adapter is a row of the table and a driver: how the program is called and how its stream is read, both pure.
 *
 * @module
 */
import type { Usage } from "../backlog/types.ts";
import type { ReadyEndpoint } from "./ask_endpoint.ts";
import type { AgentNeeds } from "../host/confinement.ts";
import type { AgentEvent, FailureKind } from "../events/types.ts";
import { join } from "node:path";

/** A turn as it is asked of the program. */
export interface AdapterOptions {
  readonly prompt: string;
  readonly model: string | null;
  readonly reasoning: string | null;
  /** The model server of `provider.endpoint`, for adapters that take one. */
  readonly endpoint?: ReadyEndpoint;
  /** Absolute path of an empty folder of this turn, taken away after it. */
  readonly folder: string;
}

/** How the program is called. */
export interface AdapterInvocation {
  readonly arguments: readonly string[];
  /** Text for standard input, which is closed after it; `null`: empty, or the terminal. */
  readonly input: string | null;
  /** `undefined` takes a variable away. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Written into the turn's folder before: text by file name. */
  readonly files?: Readonly<Record<string, string>>;
}

/** Why an agent does not start: no attempt gets over it. */
export interface Refusal {
  /** The text that it prints then. */
  readonly pattern: RegExp;
  /** The advice for the person. */
  readonly hint: string;
  /** Why it will refuse, where that is known without starting it; `null`: it will not. */
  readonly foresee?: (place: RefusalPlace) => string | null;
}

/** The facts that a refusal can be foreseen from. */
interface RefusalPlace {
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** Ralph runs as root, and so does the agent. */
  readonly isRoot: boolean;
}

/** One agent: a row of the table. */
export interface Adapter {
  readonly name: string;
  /** The program, looked up on PATH; `null`: Ralph itself, by its hidden command. @default its name */
  readonly program?: string | null;
  /** Says whether the adapter was run against the real program (which version), or written from its documentation. */
  readonly proof: { readonly kind: "measured"; readonly version: string } | { readonly kind: "documented" };
  /** From this version on it is not known to work with the adapter, and why: `ralph doctor` says so. @default none */
  readonly doubtful?: { readonly from: string; readonly why: string };
  /** How to get it. */
  readonly install: string;
  /** How to log in. */
  readonly login: string;
  /** Files of the project that instruct the agent, relative to the root; a folder ends with `/`. */
  readonly instructions: readonly string[];
  /** Its needs inside of a sandbox. */
  readonly needs: AgentNeeds;
  /**
   * Without a login it asks its server all the same, and waits for one that is not reached. Other things than its needs
   * can set it up: files of the project, and variables. @default it ends by itself
   */
  readonly waitsForServer?: { readonly files: readonly string[]; readonly variables: readonly string[] };
  /** How it refuses to start, whatever the work is. @default none known */
  readonly refusals?: readonly Refusal[];
  /** `optional`: it never prints the closing line that a prompt asks for. @default it does */
  readonly claims?: "optional";
  /**
   * It can be given these: a reasoning effort, any model server (`provider.endpoint`), the terminal with a prompt.
   * @default none
   */
  readonly takes?: readonly ("endpoint" | "reasoning" | "terminal")[];
  readonly load: () => Promise<Driver>;
}

/** How an agent's program is called, and how its stream is read. */
export interface Driver {
  readonly arguments: (options: AdapterOptions) => AdapterInvocation;
  /** Hands the terminal over; `null` where the program has no such mode that takes a prompt. */
  readonly interactive: ((options: AdapterOptions) => AdapterInvocation) | null;
  /** Reads its lines; `null`: it prints plain text. */
  readonly translator: (() => Translator) | null;
  /** Beginnings of lines that are never needed and may be many: left out unread. */
  readonly ignored?: readonly string[];
  /** The meaning of an exit code, if the program gives it one. */
  readonly exitKind?: (exitCode: number) => FailureKind | null;
  /** How to log in where the program refuses for this reason; `null`: as the row says. */
  readonly loginFor?: (message: string) => string | null;
  /** A file of the turn's folder that holds the usage, for programs that do not print it. */
  readonly usageFile?: { readonly name: string; readonly read: (text: string) => Usage | null };
}

export type { AgentEvent, FailureKind } from "../events/types.ts";

/** Reads one agent's stream: pure but for what it remembers of the lines before. Never throws, whatever it is given. */
export interface Translator {
  /** The events in one line, already parsed from JSON. */
  push(value: unknown): readonly AgentEvent[];
  /** Emits the rest when the stream has ended. @default nothing */
  end?(): readonly AgentEvent[];
}

/** Stands for the turn's folder in an argument. */
export const FOLDER = "{folder}";
/** Stands for the file that holds the prompt; an agent that is given it has nothing on standard input. */
export const PROMPT_FILE: string = `${FOLDER}/prompt.md`;

/** How a program is called. The order of arguments: `first`, the model, the reasoning, `last`. */
interface CallRow {
  readonly first: readonly string[];
  readonly last?: readonly string[];
  /** The flag of the model. */
  readonly model: string;
  /** The flag of the reasoning effort, or the arguments of one. @default it takes none */
  readonly reasoning?: string | ((effort: string) => readonly string[]);
  readonly environment?: AdapterInvocation["environment"];
  /** With the terminal: arguments before the prompt. @default it does not take a prompt there */
  readonly terminal?: readonly string[];
  readonly terminalEnvironment?: AdapterInvocation["environment"];
}

/** A flag with its value, where there is one. */
export function flag(name: string | ((value: string) => readonly string[]), value: string | null): readonly string[] {
  if (value === null) return [];
  return typeof name === "string" ? [name, value] : name(value);
}

/** The two ways to call a program. */
export function callsOf(row: CallRow): Pick<Driver, "arguments" | "interactive"> {
  const { first, last = [], environment, terminal, terminalEnvironment } = row;
  const choices = ({ model, reasoning }: AdapterOptions): readonly string[] => [
    ...flag(row.model, model),
    ...flag(row.reasoning ?? (() => []), reasoning),
  ];
  const isFile = [...first, ...last].includes(PROMPT_FILE);
  return {
    arguments: (options) => ({
      arguments: [...first, ...choices(options), ...last].map((part) => inFolder(part, options.folder)),
      ...(isFile ? { input: null, files: { "prompt.md": options.prompt } } : { input: options.prompt }),
      ...(environment === undefined ? {} : { environment }),
    }),
    interactive: terminal === undefined ? null : (options) => ({
      arguments: [...choices(options), ...terminal, options.prompt],
      input: null,
      ...(terminalEnvironment === undefined ? {} : { environment: terminalEnvironment }),
    }),
  };
}

function inFolder(part: string, folder: string): string {
  return part.startsWith(`${FOLDER}/`) ? join(folder, part.slice(FOLDER.length)) : part;
}
