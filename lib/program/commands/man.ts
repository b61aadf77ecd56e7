import type { Command, FlagTable, Invocation } from "../../cli/command.ts";
import { usageOf, valueText } from "../../cli/help.ts";
import { VERSION } from "../../host/version.ts";
import { EXIT, EXIT_MEANINGS } from "../../errors/exit_codes.ts";
import { WORKFLOWS } from "../../workflows/table.ts";
import { FLAG_GROUPS, flagsOf, type Variable, variables } from "../manual.ts";

/** `ralph man`: the manual page, for `man -l -` or a file `ralph.1`. */
export function run({ host, out, program, say }: Invocation): Promise<number> {
  out(manualPage(program.commands));
  if (host.terminal.isTerminal("stdout")) say("\nhint: that is the source; `ralph man | man -l -` shows the page");
  return Promise.resolve(EXIT.done);
}

/** `ralph.1`: roff with the macros of man(7). */
export function manualPage(commands: readonly Command[]): string {
  const [[, flags], [, read], ...set] = variables(commands);
  return [
    `.TH RALPH 1 "" "ralph ${plain(VERSION)}" "User Commands"`,
    ".SH NAME",
    "ralph \\- take a goal to verified, committed code by running any coding agent in a loop",
    ".SH SYNOPSIS",
    ".B ralph",
    ".I command",
    "[arguments] [flags]",
    ".SH DESCRIPTION",
    ...paragraph(
      "Ralph takes a goal to verified, committed code. It gives one item of work at a time to a fresh process of a coding agent, runs the checks itself, and commits what passed. A run has `passed` when a clean checkout of HEAD passes every check.",
    ),
    ...paragraph(
      "Without a command, `ralph` shows the state of the work. The text below is made of the same tables as `ralph help`.",
    ),
    ".SH WORKFLOWS",
    ...WORKFLOWS.flatMap(({ name, summary, start }) => entry(bold(name), `${summary}; begins with \`${start}\``)),
    ".SH COMMANDS",
    ...commands.flatMap(section),
    ...FLAG_GROUPS.flatMap((group) => [
      `.SH ${plain(group.name.toUpperCase())}`,
      ...paragraph(group.summary),
      ...flagEntries(group.flags),
    ]),
    '.SH "EXIT STATUS"',
    ...EXIT_MEANINGS.flatMap(([code, meaning]) => entry(bold(String(code)), meaning)),
    ".SH ENVIRONMENT",
    ...paragraph("A flag beats its variable, a variable beats ralph.config.json."),
    ...variableEntries([...flags, ...read]),
    ...set.flatMap(([heading, rows]) => [...paragraph(heading), ...variableEntries(rows)]),
    ".SH FILES",
    ...entry(bold("ralph.config.json"), "the configuration: `ralph help config` lists its keys"),
    ...WORKFLOWS.flatMap(({ name, state }) => entry(bold(state), `state of the workflow ${name}`)),
    ...entry(bold(".ralph/"), "runs, prompts of your own, state of features"),
    '.SH "SEE ALSO"',
    ...paragraph("`git`(1). `ralph help TOPIC` for agents, config, environment, exit-codes, install and workflows."),
  ].join("\n");
}

function section(command: Command): readonly string[] {
  const { own, groups } = flagsOf(command);
  const taken = groups.map(({ name }) => name.toUpperCase()).join(", ");
  return [
    `.SS "${plain(usageOf(command)).replaceAll('"', '""')}"`,
    ...paragraph(sentence(command.summary)),
    ...detailsOf(command.details ?? []),
    ...flagEntries(own),
    ...paragraph(`Also takes: ${taken}.`),
  ];
}

/** Sentences are filled; what is a row of columns, or indented, stays a line. */
function detailsOf(details: readonly string[]): readonly string[] {
  let filled: boolean | null = null;
  return details.flatMap((text) => {
    if (text === "") {
      filled = null;
      return [];
    }
    const before = filled;
    filled = !/^\s|\S\s{2,}/.test(text);
    if (filled === before) return [line(text)];
    return [...(before === false ? [".fi"] : []), ".PP", ...(filled ? [] : [".nf"]), line(text)];
  }).concat(filled === false ? [".fi"] : []);
}

function flagEntries(flags: FlagTable): readonly string[] {
  return Object.entries(flags).flatMap(([name, flag]) =>
    entry(
      `${bold(`--${name}`)}${plain(valueText(flag))}`,
      flag.variable === undefined ? flag.summary : `${flag.summary} (\`${flag.variable}\`)`,
    )
  );
}

function variableEntries(rows: readonly Variable[]): readonly string[] {
  return rows.flatMap(([name, meaning]) => entry(bold(name), meaning));
}

function entry(title: string, text: string): readonly string[] {
  return [".TP", title, line(text)];
}

function paragraph(text: string): readonly string[] {
  return [".PP", line(text)];
}

function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
}

/** A line of text: what is in back-ticks is bold, and nothing at its beginning is a request. */
function line(text: string): string {
  const words = text.split("`").map((part, index) => index % 2 === 1 ? bold(part) : plain(part)).join("");
  return /^[.'\s]/.test(words) ? `\\&${words}` : words;
}

function bold(text: string): string {
  return `\\fB${plain(text)}\\fR`;
}

/** As it is: roff's own characters are escaped, and those outside of ASCII have their numbers. */
function plain(text: string): string {
  return text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replaceAll("'", "\\(aq")
    .replaceAll("`", "\\(ga")
    .replaceAll("^", "\\(ha")
    .replaceAll("~", "\\(ti")
    .replaceAll(
      /[^\n -~]/gu,
      (character) => `\\[u${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}]`,
    );
}
