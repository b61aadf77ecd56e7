import type { Command, Flag, FlagTable } from "./command.ts";
import { EXIT_MEANINGS } from "../errors/exit_codes.ts";

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
    "`ralph help COMMAND` shows a command's flags; `ralph help exit-codes`, `environment` and `workflows` tell the rest",
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

/** Topics of `ralph help` that are no commands. */
export const TOPICS: Readonly<Record<string, (commands: readonly Command[]) => string>> = {
  "exit-codes": () =>
    ["Exit codes:", ...table(EXIT_MEANINGS.map(([code, meaning]) => [String(code), meaning] as const))].join("\n"),
  environment: environmentHelp,
  workflows: () =>
    [
      "Workflows:",
      ...table([
        ["exec", "a goal becomes scripts/ralph/prd.json, story by story verified and committed (the default)"],
        ["feature", "a PRD for each feature, with services, browser checks and a final verification"],
        ["sprint", "a free loop over the goal of a SPRINT.yaml, with hooks that run with each iteration"],
        [
          "spec",
          "a spec becomes ralph/plan.jsonl; its tasks are built, verified and investigated until nothing is left",
        ],
        ["gsd", "the plans of a GSD project (.planning/), each verified by the commands that it names"],
      ]),
      "",
      'Chosen by `--workflow`, then `"workflow"` in ralph.config.json, then by the command itself (`run --loop`), then the only one',
      "whose state exists, then exec",
    ].join("\n"),
};

function environmentHelp(commands: readonly Command[]): string {
  const variables = new Map<string, string>();
  for (const command of commands) {
    for (const [name, flag] of Object.entries(command.flags)) {
      if (flag.variable !== undefined) variables.set(flag.variable, `stands in for --${name}`);
    }
  }
  return [
    "Environment variables (a flag beats its variable, a variable beats ralph.config.json):",
    ...table([...variables, ["NO_COLOR", "no colours"]]),
    "",
    "Ralph sets for the agent: RALPH_ROOT, RALPH_RUN, RALPH_ITEM, RALPH_CLAIMS (where its claims go),",
    "in a staged workflow RALPH_STAGE, in a sprint RALPH_SPRINT",
  ].join("\n");
}

function valueText(flag: Flag): string {
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
