/**
 * The words that fit at a place of a command line: nothing in it is written by hand.
 *
 * @module
 */
import { AGENT_NAMES } from "../agents/registry.ts";
import { type Command, splitCommand } from "../cli/command.ts";
import { GATES } from "../cli/settings.ts";
import { PROMPTS } from "../generated/prompts.ts";
import { WORKFLOWS } from "../workflows/table.ts";
import { SCHEMA_NAMES, SHELLS } from "./commands/built_in.ts";
import { TOPICS } from "./commands/help.ts";
import { SHIPPED_RECIPES } from "./shipped_recipes.ts";

/** These may stand in a place: words with what they mean, and paths where no word fits. */
interface Offer {
  readonly words: readonly (readonly [word: string, summary: string])[];
  readonly paths: "files" | "folders" | null;
}

/** Flags whose values another table knows, beside those with choices of their own. */
const FLAG_WORDS: Readonly<Record<string, readonly string[]>> = {
  workflow: WORKFLOWS.map(({ name }) => name),
  agent: AGENT_NAMES.filter((name) => name !== "command"),
  approve: [...GATES, GATES.join(","), "all"],
};

/**
 * The answer to a shell's completion script: a line for each word, its meaning behind a tab; a line with nothing before
 * the tab says which paths fit. Pure.
 *
 * @param current `=` and what is typed of the word at the end: some shells drop an empty argument
 * @param before the words before it; `--flag=value` is one word in some shells, and three in others
 */
export function offerLines([current = "=", ...before]: readonly string[], commands: readonly Command[]): string {
  const [, flag] = /^=--([^=]+)=/.exec(current) ?? [];
  const line = [...before.filter((word) => word !== "="), ...flag === undefined ? [] : [`--${flag}`]];
  const { words, paths } = offerAt(line, current.startsWith("=-") && flag === undefined, commands);
  return [...words.map((row) => row.join("\t")), ...paths === null ? [] : [`\t${paths}`]].join("\n");
}

function offerAt(line: readonly string[], isFlag: boolean, commands: readonly Command[]): Offer {
  const { name } = splitCommand(line, commands);
  const command = commands.find((one) => one.name === name);
  const last = /^--(.+)/.exec(line.at(-1) ?? "")?.[1] ?? "";
  const flag = command?.flags[last] ?? commands.find(({ flags }) => flags[last]?.type === "text")?.flags[last];
  if (flag?.type === "text") {
    const words = flag.choices ?? FLAG_WORDS[last] ?? [];
    return { words: words.map((word) => [word, ""]), paths: words.length > 0 ? null : pathsOf(flag.value) };
  }
  if (name === null) {
    const own = [["--help", "show the commands"], ["--version", "show the version"]] as const;
    const named = commands.map(({ name: word, summary }) => [word, summary] as const);
    return { words: [...named, ...own], paths: null };
  }
  if (command === undefined) return { words: [], paths: null };
  if (!isFlag) return { words: wordsOf(command, commands).map((word) => [word, ""]), paths: pathsOf(command.usage) };
  return { words: Object.entries(command.flags).map(([key, { summary }]) => [`--${key}`, summary]), paths: null };
}

/** Literal words of the usage (`compile|run|status`), and names from their tables. */
function wordsOf({ name, usage = "" }: Command, commands: readonly Command[]): readonly string[] {
  const [first = ""] = usage.replaceAll(/[[\]]/g, "").split(" ");
  return [...first.split("|").filter((word) => /^[a-z-]+$/.test(word)), ...namesFor(name, commands)];
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
