import { wrapText } from "../ui/wrap_text.ts";
import type { Host } from "../host/types.ts";
import type { Command, Flag, FlagTable } from "./command.ts";

const TITLE = "Take a goal to verified, committed code by running any coding agent in a loop";

/** Columns of help where the terminal does not say otherwise. */
const WIDTH = 100;

/** The columns that help has on this terminal: as many as there are, up to a line that is read well. */
export function helpColumns({ terminal }: Pick<Host, "terminal">): number {
  return terminal.isTerminal("stdout") ? Math.min(WIDTH, Math.max(40, terminal.size().columns)) : WIDTH;
}

/** The groups of the first screen. */
const FIRST_GROUPS: readonly string[] = ["start", "work", "watch", "more"];

/** `ralph help`: the twelve commands that a person begins with, on one screen. */
export function generalHelp(commands: readonly Command[], columns: number = WIDTH): string {
  const groups = FIRST_GROUPS.map((group) => [group, commands.filter((command) => command.group === group)] as const);
  const rows = groups.flatMap(([group, own]) =>
    own.map(({ name, usage = "", summary }, index) => {
      const shown = /^"[^|]*$/.test(usage) ? `${name} ${usage}` : name;
      return [`${(index === 0 ? group : "").padEnd(7)}${shown}`, summary, index === 0 && group !== "start"] as const;
    })
  );
  const lines = table(rows.map(([name, summary]) => [name, summary]), columns);
  const isWhole = lines.length === rows.length;
  return [
    TITLE,
    "",
    ...lines.flatMap((line, index) => isWhole && rows[index]?.[2] === true ? ["", line] : [line]),
    "",
    ...flowed(["`ralph help COMMAND` shows a command's flags, `ralph help --all` every command"], columns),
  ].join("\n");
}

/** `ralph help --all`: every command, group by group. */
export function wholeHelp(commands: readonly Command[], columns: number = WIDTH): string {
  const names = new Set([...FIRST_GROUPS, ...commands.flatMap(({ group }) => group ?? [])]);
  return [
    TITLE,
    "",
    "Usage: ralph <command> [arguments] [flags]",
    ...[...names].flatMap((group) => [
      "",
      `${group.slice(0, 1).toUpperCase()}${group.slice(1)}:`,
      ...table(
        commands.filter((command) => command.group === group).map(({ name, usage, summary }) =>
          [[name, usage].filter(Boolean).join(" "), summary] as const
        ),
        columns,
      ),
    ]),
    "",
    ...flowed([
      "`ralph help COMMAND` shows a command's flags; `ralph help agents`, `config`, `environment`, `exit-codes`,",
      "`install` and `workflows` show the rest",
    ], columns),
  ].join("\n");
}

/** `ralph plan "<goal>"|SPEC.md|PHASE [flags]`. */
export function usageOf({ name, usage, open }: Command): string {
  const words = open === true ? ["ralph", name, "[flags]", usage] : ["ralph", name, usage, "[flags]"];
  return words.filter(Boolean).join(" ");
}

/** A command with more flags than these shows first those that people use. */
const FEW_FLAGS = 12;

/** `ralph help COMMAND`. @param isWhole every flag, also where there are many */
export function commandHelp(command: Command, columns: number = WIDTH, isWhole = false): string {
  const flags = Object.entries(command.flags);
  const common = flags.filter(([, flag]) => flag.common === true);
  const shown = isWhole || flags.length <= FEW_FLAGS ? flags : common;
  const left = flags.length - shown.length;
  return [
    command.summary,
    "",
    `Usage: ${usageOf(command)}`,
    ...(command.details === undefined ? [] : ["", ...flowed(command.details, columns)]),
    "",
    "Flags:",
    ...flagRows(Object.fromEntries(shown), columns),
    ...left === 0 ? [] : ["", `${left} more: \`ralph help ${command.name} --all\``],
  ].join("\n");
}

/**
 * Details fitted to the columns: a sentence that continues in the next line is one, rows of a table and indented lines stay
 * as they are.
 */
export function flowed(details: readonly string[], columns: number = WIDTH): readonly string[] {
  const lines: string[] = [];
  for (const line of details) {
    const before = lines.at(-1);
    const isProse = (text: string): boolean => text !== "" && !/ {2}/.test(text);
    const goesOn = before !== undefined && isProse(before) && isProse(line) && !/[.:!?]$/.test(before);
    if (goesOn) lines[lines.length - 1] = `${before} ${line}`;
    else lines.push(line);
  }
  return lines.flatMap((line) => {
    const [, name = "", text = ""] = /^(\s*\S.*? {2,})(\S.*)$/.exec(line) ?? [];
    if (name === "") return wrapText(line, columns).split("\n");
    const [head = "", ...more] = wrapText(text, Math.max(20, columns - name.length)).split("\n");
    return [`${name}${head}`, ...more.map((rest) => " ".repeat(name.length) + rest)];
  });
}

/** The flags of a table, two columns. */
export function flagRows(flags: FlagTable, columns: number = WIDTH): readonly string[] {
  const rows = Object.entries(flags).map(([name, flag]) => [`--${name}${valueText(flag)}`, flag.summary] as const);
  return table(rows, columns);
}

/** ` NAME`: what stands behind a flag in help. */
export function valueText(flag: Flag): string {
  if (flag.type === "boolean") return "";
  return flag.type === "optional" ? ` [${flag.value ?? "N"}]` : ` ${flag.value ?? "VALUE"}`;
}

/** Two columns, the second wrapped. */
export function table(rows: readonly (readonly [string, string])[], columns: number = WIDTH): readonly string[] {
  const first = Math.max(0, ...rows.map(([name]) => name.length)) + 2;
  return rows.flatMap(([name, text]) => {
    const [head = "", ...more] = wrapText(text, Math.max(20, columns - first - 2)).split("\n");
    return [`  ${name.padEnd(first)}${head}`.trimEnd(), ...more.map((line) => " ".repeat(first + 2) + line)];
  });
}
