import { AGENT_NAMES } from "../../agents/registry.ts";
import { PROMPTS } from "../../generated/prompts.ts";
import { SHIPPED_RECIPES } from "../shipped_recipes.ts";
import type { Command, Flag } from "../../cli/command.ts";
import { SCHEMA_NAMES } from "../commands/built_in.ts";
import { TOPICS } from "../commands/help.ts";
import { GATES } from "../../cli/settings.ts";
import { WORKFLOWS } from "../../workflows/table.ts";

/** These may stand in a place: words, paths, or anything. */
export interface Offer {
  readonly words: readonly string[];
  readonly paths: "files" | "folders" | null;
}

/** A flag as shells complete it. */
export interface OfferedFlag extends Offer {
  readonly name: string;
  readonly summary: string;
  /** The next word is its value. */
  readonly takesValue: boolean;
}

/** A command as shells complete it. */
export interface OfferedCommand {
  readonly name: string;
  readonly summary: string;
  /** Its arguments. */
  readonly argument: Offer;
  readonly flags: readonly OfferedFlag[];
}

/** All that a completion script knows: nothing in it is written by hand. */
export interface CompletionModel {
  readonly commands: readonly OfferedCommand[];
  /** Flags that take a value, by name; the same in every command that has them. */
  readonly values: readonly OfferedFlag[];
}

/** Shells that a script is written for. */
export const SHELLS: readonly string[] = ["bash", "zsh", "fish", "powershell"];

/** Flags whose values another table knows, beside those with choices of their own. */
const FLAG_WORDS: Readonly<Record<string, readonly string[]>> = {
  workflow: WORKFLOWS.map(({ name }) => name),
  agent: AGENT_NAMES.filter((name) => name !== "command"),
  approve: [...GATES, GATES.join(","), "all"],
};

/** The completion model of a command table. Pure. */
export function completionModel(commands: readonly Command[]): CompletionModel {
  const offered = commands.map((command): OfferedCommand => ({
    name: command.name,
    summary: command.summary,
    argument: argumentOf(command, commands),
    flags: Object.entries(command.flags).map(([name, flag]) => flagOf(name, flag)),
  }));
  const values = new Map<string, OfferedFlag>();
  for (const flag of offered.flatMap(({ flags }) => flags).filter(({ takesValue }) => takesValue)) {
    const known = values.get(flag.name);
    values.set(flag.name, known === undefined ? flag : merged(known, flag));
  }
  return { commands: offered, values: [...values.values()] };
}

function flagOf(name: string, { type, summary, choices, value }: Flag): OfferedFlag {
  const words = choices ?? FLAG_WORDS[name] ?? [];
  return { name, summary, takesValue: type === "text", words, paths: words.length > 0 ? null : pathsOf(value) };
}

function merged(one: OfferedFlag, other: OfferedFlag): OfferedFlag {
  return { ...one, words: [...new Set([...one.words, ...other.words])], paths: one.paths ?? other.paths };
}

/** Literal words of the usage (`compile|run|status`), names from their tables, else paths. */
function argumentOf({ name, usage = "" }: Command, commands: readonly Command[]): Offer {
  const [first = ""] = usage.replaceAll(/[[\]]/g, "").split(" ");
  const own = first.split("|").filter((word) => /^[a-z-]+$/.test(word));
  return { words: [...own, ...namesFor(name, commands)], paths: pathsOf(usage) };
}

function namesFor(command: string, commands: readonly Command[]): readonly string[] {
  switch (command) {
    case "help":
      return [...commands.map(({ name }) => name), ...Object.keys(TOPICS)];
    case "schema":
      return SCHEMA_NAMES;
    case "completions":
      return SHELLS;
    case "eject":
      return [...SHIPPED_RECIPES.map(({ name }) => name), ...Object.keys(PROMPTS)];
    default:
      return [];
  }
}

function pathsOf(placeholder: string | undefined): Offer["paths"] {
  if (placeholder === undefined) return null;
  if (/\bFILE\b|\bRUN\b|\.md\b/.test(placeholder)) return "files";
  return /\bDIR\b/.test(placeholder) ? "folders" : null;
}
