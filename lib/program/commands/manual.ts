/**
 * The manual page and the reference share this: each command with its flags, those that many take named as a group, and
 * the environment's variables.
 *
 * @module
 */
import type { Command, FlagTable, Invocation } from "../../cli/command.ts";
import * as tables from "../../cli/flags.ts";
import { usageOf, valueText } from "../../cli/help.ts";
import { EXIT, EXIT_MEANINGS } from "../../errors/ralph_error.ts";
import { VERSION } from "../../host/version.ts";
import { WORKFLOWS } from "../../workflows/table.ts";

/** Flags that several commands take. */
export interface FlagGroup {
  readonly name: string;
  readonly summary: string;
  readonly flags: FlagTable;
}

/** The groups, in the order in which they are shown. A later one may be part of an earlier one. */
export const FLAG_GROUPS: readonly FlagGroup[] = [
  { name: "Loop flags", summary: "What ends the loop, and what it checks.", flags: tables.LOOP_FLAGS },
  { name: "Agent flags", summary: "The agent that does the work.", flags: tables.AGENT_FLAGS },
  { name: "Sandbox flags", summary: "What agents and checks can touch.", flags: tables.SANDBOX_FLAGS },
  { name: "Consent flags", summary: "Questions that are answered beforehand.", flags: tables.CONSENT_FLAGS },
  { name: "Report flags", summary: "How a run is shown while it runs.", flags: tables.REPORT_FLAGS },
  { name: "Place flags", summary: "Where the project is.", flags: tables.PLACE_FLAGS },
  { name: "Common flags", summary: "Every command takes these.", flags: tables.SHOW_FLAGS },
];

/** A command's flags: the groups that it takes whole, and the rest. */
export function flagsOf({ flags }: Command): { readonly own: FlagTable; readonly groups: readonly FlagGroup[] } {
  const groups: FlagGroup[] = [];
  for (const group of FLAG_GROUPS) {
    if (contains(flags, group.flags) && !groups.some((other) => contains(other.flags, group.flags))) groups.push(group);
  }
  const own = Object.entries(flags).filter(([name, flag]) => !groups.some((group) => group.flags[name] === flag));
  return { own: Object.fromEntries(own), groups };
}

function contains(table: FlagTable, part: FlagTable): boolean {
  return Object.entries(part).every(([name, flag]) => table[name] === flag);
}

/** A variable of the environment, and what it does. */
export type Variable = readonly [name: string, meaning: string];

/** Ralph reads these, beside the variables of flags and the agents' own. */
const READ: readonly Variable[] = [
  ["NO_COLOR", "no colours, unless empty"],
  ["FORCE_COLOR", "colours also where the output is no terminal; `0` or empty: as without it"],
  ["TERM", "`dumb`: no colours and no live view"],
  ["RALPH_AGENT_KEY", "the key of the model server that `provider.endpoint` names by a URL"],
  ["VISUAL", "the editor for a PRD"],
  ["EDITOR", "the editor for a PRD where VISUAL is not set"],
  [
    "XDG_CACHE_HOME",
    "the folder of clean checkouts and of a sandbox's caches (default: `~/.cache`, or TMPDIR if that cannot be written)",
  ],
  [
    "XDG_STATE_HOME",
    "the recipes and configurations that you agreed to run are noted there (default: `~/.local/state`)",
  ],
  ["CLAUDE_CONFIG_DIR", "GSD's commands are looked for there (default: `~/.claude`)"],
];

/** Ralph sets these for the agent. */
const SET: readonly Variable[] = [
  ["RALPH_ROOT", "the project's folder"],
  ["RALPH_RUN", "the run's id; in the same project it keeps commands from starting another run"],
  ["RALPH_ITEM", "the item's id"],
  ["RALPH_LANE", "with `--parallel`: the number of the worktree, from 0, to tell ports apart"],
  ["RALPH_CLAIMS", "the file that state commands write what they claim to"],
  ["RALPH_STAGE", "the stage, in workflows that have stages: it decides what may be claimed"],
];

/** Variables that share a purpose, under their heading. */
export type VariableGroup = readonly [heading: string, variables: readonly Variable[]];

/** The groups, in the order in which they are shown. */
export type VariableGroups = readonly [
  flags: VariableGroup,
  read: VariableGroup,
  agents: VariableGroup,
  hooks: VariableGroup,
  notify: VariableGroup,
];

/** Every variable, by what it is for: the flags' own first, then the others that Ralph reads, then those that it sets. */
export function variables(commands: readonly Command[]): VariableGroups {
  const flags = new Map<string, string>();
  for (const command of commands) {
    for (const [name, { variable }] of Object.entries(command.flags)) {
      if (variable !== undefined) flags.set(variable, `sets \`--${name}\``);
    }
  }
  const own = WORKFLOWS.flatMap(({ variable }): readonly Variable[] => variable === undefined ? [] : [variable]);
  return [
    ["Environment variables (a flag beats its variable, a variable beats ralph.config.json):", [...flags]],
    ["Ralph also reads:", READ],
    ["Ralph sets for the agent:", [...SET, ...own]],
    ["And for a hook:", [
      ["RALPH_HOOK", "the hook's id"],
      ["RALPH_ITERATION", "the iteration's number"],
      ["ITERATION_TRANSCRIPT", "the transcript that the hook is given"],
    ]],
    ["And for the command of `notify`:", [
      ["RALPH_NOTIFY", "what happened: a word of `notify.on`"],
      ["RALPH_NOTIFY_TEXT", "one line about it, for people"],
    ]],
  ];
}

/** `ralph man`: the manual page, for `man -l -` or a file `ralph.1`. */
export function man({ host, out, program, say }: Invocation): Promise<number> {
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
