/**
 * How most agents are called, as data.
 *
 * @module
 */
import { join } from "node:path";
import type { AdapterInvocation, AdapterOptions, Driver } from "./adapter.ts";

/** Stands for the turn's folder in an argument. */
export const FOLDER = "{folder}";
/** Stands for the file that holds the prompt; an agent that is given it has nothing on standard input. */
export const PROMPT_FILE: string = `${FOLDER}/prompt.md`;

/** How a program is called. The order of arguments: `first`, the model, the reasoning, `last`. */
export interface CallRow {
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
