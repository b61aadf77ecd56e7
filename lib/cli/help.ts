import type { Command, Flag, FlagTable } from "./command.ts";

const WIDTH = 100;

/** `ralph --help`: what there is. */
export function generalHelp(commands: readonly Command[]): string {
  const rows = commands.map((command) =>
    [[command.name, command.usage].filter(Boolean).join(" "), command.summary] as const
  );
  return [
    "Take a goal to verified, committed code by running any coding agent in a loop",
    "",
    "Usage: ralph <command> [arguments] [flags]",
    "",
    "Commands:",
    ...table(rows),
    "",
    "`ralph help COMMAND` shows a command's flags; `ralph help agents`, `config`, `environment`, `exit-codes`,",
    "`install` and `workflows` show the rest",
  ].join("\n");
}

/** `ralph help COMMAND`. */
export function commandHelp(command: Command): string {
  const usage = ["ralph", command.name, command.usage, "[flags]"].filter(Boolean).join(" ");
  return [
    command.summary,
    "",
    `Usage: ${command.open === true ? `ralph ${command.name} [flags] ${command.usage}` : usage}`,
    ...(command.details === undefined ? [] : ["", ...command.details]),
    "",
    "Flags:",
    ...flagRows(command.flags),
  ].join("\n");
}

/** The flags of a table, two columns. */
export function flagRows(flags: FlagTable): readonly string[] {
  return table(Object.entries(flags).map(([name, flag]) => [`--${name}${valueText(flag)}`, flag.summary] as const));
}

/** ` NAME`: what stands behind a flag in help. */
export function valueText(flag: Flag): string {
  if (flag.type === "boolean") return "";
  return flag.type === "optional" ? ` [${flag.value ?? "N"}]` : ` ${flag.value ?? "VALUE"}`;
}

/** Two columns, the second wrapped. */
export function table(rows: readonly (readonly [string, string])[]): readonly string[] {
  const first = Math.max(0, ...rows.map(([name]) => name.length)) + 2;
  return rows.flatMap(([name, text]) => {
    const [head = "", ...more] = wrap(text, WIDTH - first - 2);
    return [`  ${name.padEnd(first)}${head}`.trimEnd(), ...more.map((line) => " ".repeat(first + 2) + line)];
  });
}

function wrap(text: string, width: number): readonly string[] {
  if (text.length <= width) return [text];
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === "" ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}
