import { EXIT_MEANINGS } from "../../errors/ralph_error.ts";
import { type Command, didYouMean, type Invocation, printed, usage } from "../../cli/command.ts";
import { commandHelp, flowed, generalHelp, helpColumns, table, wholeHelp } from "../../cli/help.ts";
import { DEFAULT_WORKFLOW, WORKFLOWS } from "../../workflows/table.ts";
import { wrapText } from "../../ui/wrap_text.ts";
import { variables } from "./manual.ts";

/** Topics of `ralph help` that are no commands. */
export const TOPICS: Readonly<
  Record<string, (commands: readonly Command[], columns?: number) => string | Promise<string>>
> = {
  agents: async (_commands, columns) => (await import("../../cli/agents.ts")).agentsHelp(columns),
  config: async (_commands, columns) => (await import("../../cli/config_reference.ts")).configHelp(columns),
  "exit-codes": (_commands, columns) => {
    const rows = EXIT_MEANINGS.map(([code, meaning]) => [String(code), meaning] as const);
    return ["Exit codes:", ...table(rows, columns)].join("\n");
  },
  environment: (commands, columns) =>
    variables(commands).map(([heading, rows]) => [heading, ...table(rows, columns)].join("\n")).join("\n\n"),
  install: async () => inOneLine((await import("../../generated/install.ts")).INSTALL_TEXT.trimEnd()),
  workflows: (_commands, columns) =>
    [
      "Workflows:",
      ...table(
        WORKFLOWS.map((row) => [row.name, row === DEFAULT_WORKFLOW ? `${row.summary} (the default)` : row.summary]),
        columns,
      ),
      "",
      ...flowed([
        'Chosen by `--workflow`, then `"workflow"` in ralph.config.json, then by the command itself (`run --loop`), then the only one',
        `whose state exists, then ${DEFAULT_WORKFLOW.name}`,
      ], columns),
    ].join("\n"),
};

/** `ralph help [COMMAND|TOPIC]`. */
export async function run({ arguments: [name], flags, host, out, program: { commands } }: Invocation): Promise<number> {
  const columns = helpColumns(host);
  const command = commands.find((one) => one.name === name);
  const topic = name !== undefined && Object.hasOwn(TOPICS, name) ? TOPICS[name] : undefined;
  if (name !== undefined && command === undefined && topic === undefined) {
    const known = [...commands.map((one) => one.name), ...Object.keys(TOPICS)];
    const hint = didYouMean(name, known, undefined, (near) => `ralph help ${near}`);
    throw usage(`there is no help on \`${name}\``, hint);
  }
  const all = flags.has("all");
  const own = command === undefined
    ? (all ? wholeHelp : generalHelp)(commands, columns)
    : commandHelp(command, columns, all);
  const text = command === undefined && topic !== undefined ? await topic(commands, columns) : own;
  return printed(out, wrapText(text, columns));
}

/** Markdown with each paragraph and each point of a list in one line and without the padding of tables, so that it can be wrapped for any terminal. */
function inOneLine(markdown: string): string {
  const lines: string[] = [];
  let isCode = false;
  let isOpen = false; // the last line is prose that the next one may continue
  for (const line of markdown.split("\n")) {
    const isFence = line.startsWith("```");
    const isProse = !isCode && !isFence && line.trim() !== "" && !/^(?:#|\||>| {4})/.test(line);
    if (isProse && isOpen && !/^(?:[-*]|\d+\.) /.test(line)) lines[lines.length - 1] += ` ${line.trimStart()}`;
    else if (line.startsWith("|") && !isCode) lines.push(line.replaceAll(/ {2,}/g, " ").replaceAll(/-{4,}/g, "---"));
    else lines.push(line);
    if (isFence) isCode = !isCode;
    isOpen = isProse;
  }
  return lines.join("\n");
}
