import { wrapText } from "../ui/wrap_text.ts";
import type { Host } from "../host/types.ts";
import type { Command, Flag, FlagTable } from "./command.ts";

/** Columns of help where the terminal does not say otherwise. */
const WIDTH = 100;

/** The columns that help has on this terminal: as many as there are, up to a line that is read well. */
export function helpColumns({ terminal }: Pick<Host, "terminal">): number {
  return terminal.isTerminal("stdout") ? Math.min(WIDTH, Math.max(40, terminal.size().columns)) : WIDTH;
}

/** `ralph --help`: what there is. */
export function generalHelp(commands: readonly Command[], columns: number = WIDTH): string {
  const rows = commands.map((command) =>
    [[command.name, command.usage].filter(Boolean).join(" "), command.summary] as const
  );
  return [
    "Take a goal to verified, committed code by running any coding agent in a loop",
    "",
    "Usage: ralph <command> [arguments] [flags]",
    "",
    "Commands:",
    ...table(rows, columns),
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

/** `ralph help COMMAND`. */
export function commandHelp(command: Command, columns: number = WIDTH): string {
  return [
    command.summary,
    "",
    `Usage: ${usageOf(command)}`,
    ...(command.details === undefined ? [] : ["", ...flowed(command.details, columns)]),
    "",
    "Flags:",
    ...flagRows(command.flags, columns),
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
export function table(
  rows: readonly (readonly [string, string])[],
  columns: number = WIDTH,
): readonly string[] {
  const first = Math.max(0, ...rows.map(([name]) => name.length)) + 2;
  return rows.flatMap(([name, text]) => {
    const [head = "", ...more] = wrapText(text, Math.max(20, columns - first - 2)).split("\n");
    return [`  ${name.padEnd(first)}${head}`.trimEnd(), ...more.map((line) => " ".repeat(first + 2) + line)];
  });
}
