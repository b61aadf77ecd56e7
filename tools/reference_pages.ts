/**
 * The text of the reference pages that are made from the program's own tables; `node tools/reference.mjs` writes them.
 *
 * @module
 */
import { z } from "zod";
import type { Adapter } from "../lib/agents/adapter.ts";
import { ADAPTERS } from "../lib/agents/adapters.ts";
import type { Command, FlagTable } from "../lib/cli/command.ts";
import { sections } from "../lib/cli/config_reference.ts";
import { usageOf, valueText } from "../lib/cli/help.ts";
import { type ConfigKey, configKeys } from "../lib/config/json_schema.ts";
import { ERROR_DEFINITIONS, type ErrorDefinition } from "../lib/errors/definitions.ts";
import { EXIT_MEANINGS } from "../lib/errors/ralph_error.ts";
import { EVENT_SCHEMAS } from "../lib/events/schema.ts";
import { EVENTS_VERSION } from "../lib/events/types.ts";
import { COMMANDS } from "../lib/program/commands.ts";
import { FLAG_GROUPS, flagsOf, type Variable, variables } from "../lib/program/commands/manual.ts";
import { DEFAULT_WORKFLOW, WORKFLOWS } from "../lib/workflows/table.ts";

/** docs/reference/commands.md */
export function commandsMarkdown(): string {
  return [
    ...head("Commands", "lib/program/commands.ts and the workflows' rows"),
    "`ralph help COMMAND` prints the same. Flags may stand anywhere in the line, as `--flag value` or `--flag=value`; a",
    "variable is used where its flag is absent. [Exit codes](exit-codes.md) are the same for all commands.",
    "",
    "| command | what it does |",
    "| --- | --- |",
    ...COMMANDS.map(({ name, summary }) => `| [\`${name}\`](#ralph-${name}) | ${cell(summary)} |`),
    "",
    ...COMMANDS.flatMap(commandSection),
    ...FLAG_GROUPS.flatMap(({ name, summary, flags }) => [`## ${name}`, "", summary, "", ...flagTable(flags)]),
  ].join("\n");
}

function commandSection(command: Command): readonly string[] {
  const { own, groups } = flagsOf(command);
  const links = groups.map(({ name }) => `[${name.toLowerCase()}](#${name.toLowerCase().replaceAll(" ", "-")})`);
  const rows = WORKFLOWS.filter((row) => row !== DEFAULT_WORKFLOW && row.commands.includes(command));
  const only = rows.map(({ name }) => ` Workflow: [${name}](../guides/${name}.md).`).join("");
  return [
    `## ralph ${command.name}`,
    "",
    `${sentence(command.summary)}${only}`,
    "",
    "```text",
    usageOf(command),
    ...(command.details === undefined ? [] : ["", ...command.details]),
    "```",
    "",
    ...(Object.keys(own).length === 0 ? [] : flagTable(own)),
    `${Object.keys(own).length === 0 ? "Flags" : "Also"}: ${links.join(", ")}.`,
    "",
  ];
}

function flagTable(flags: FlagTable): readonly string[] {
  const rows = Object.entries(flags);
  const withVariable = rows.some(([, { variable }]) => variable !== undefined);
  return [
    withVariable ? "| flag | variable | meaning |" : "| flag | meaning |",
    withVariable ? "| --- | --- | --- |" : "| --- | --- |",
    ...rows.map(([name, flag]) =>
      [
        "",
        ` \`--${name}${cell(valueText(flag))}\` `,
        ...(withVariable ? [flag.variable === undefined ? " " : ` \`${flag.variable}\` `] : []),
        ` ${cell(flag.summary)} `,
        "",
      ].join("|")
    ),
    "",
  ];
}

/** docs/reference/exit-codes.md */
export function exitCodesMarkdown(): string {
  return [
    ...head("Exit codes", "lib/errors/ralph_error.ts"),
    "Every command ends with one of these. `ralph help exit-codes` prints them.",
    "",
    "| code | meaning |",
    "| --- | --- |",
    ...EXIT_MEANINGS.map(([code, meaning]) => `| ${code} | ${meaning} |`),
    "",
    "The last line of a run says the same as its code. [Errors](errors.md) lists what ends a command before it has a",
    "result.",
    "",
  ].join("\n");
}

/** docs/reference/errors.md */
export function errorsMarkdown(): string {
  const rows: readonly (readonly [string, ErrorDefinition])[] = Object.entries(ERROR_DEFINITIONS);
  return [
    ...head("Errors", "lib/errors/definitions.ts"),
    "An error is printed as `error: MESSAGE` and `hint: WHAT TO DO`, on standard error. The headings are the messages; `…`",
    "stands for what differs from case to case. In a recipe, `RalphError.code` is the code.",
    "",
    ...rows.flatMap(([code, { message, hint, cause, exitCode }]) => [
      `<a id="${code}"></a>`,
      "",
      `## ${titleOf(code, message)}`,
      "",
      ...(cause === undefined ? [] : [`${cause}.`, ""]),
      `- **Fix:** ${hint === "{hint}" ? "the hint says what to do in this case" : filled(hint)}.`,
      `- **Code:** \`${code}\`, exit code ${exitCode}`,
      "",
    ]),
  ].join("\n");
}

/** The message as it is read; the code where the message is all detail. */
function titleOf(code: string, message: string): string {
  const text = filled(message.split("\n")[0] as string).replaceAll("`", "");
  return /\p{L}{2}/u.test(text) ? text : `\`${code}\``;
}

/** `{name}` as an ellipsis, two of them as one. */
function filled(text: string): string {
  return text.replaceAll(/\{\w+\}/g, "…").replaceAll("<", "&lt;");
}

/** The programs' own documentation. */
const AGENT_PAGES: Readonly<Record<string, string>> = {
  claude: "https://code.claude.com/docs/en/cli-reference",
  codex: "https://developers.openai.com/codex/cli",
  opencode: "https://opencode.ai/docs/cli",
  gemini: "https://github.com/google-gemini/gemini-cli",
  qwen: "https://github.com/QwenLM/qwen-code",
  copilot: "https://docs.github.com/en/copilot/concepts/agents/about-copilot-cli",
  cline: "https://docs.cline.bot",
  pi: "https://github.com/badlogic/pi-mono",
  amp: "https://ampcode.com/manual",
  cursor: "https://cursor.com/docs/cli",
  droid: "https://docs.factory.ai/cli",
  aider: "https://aider.chat/docs",
};

/** docs/reference/agents.md */
export async function agentsMarkdown(): Promise<string> {
  const sections = await Promise.all(ADAPTERS.map(agentSection));
  return [
    ...head("Agents", "lib/agents/adapters.ts"),
    "What Ralph knows of each agent, and exactly how it starts it. How to choose one, what a limit does and what is known of",
    "cost is in [the guide](../guides/agents.md). `MODEL` and `LEVEL` stand for `--model` and `--reasoning`; without them",
    "their arguments are left out. Agents work without asking for permission: that is what the long flags say. The",
    "[sandbox](../guides/sandbox.md) limits what they can touch.",
    "",
    ...sections.flat(),
  ].join("\n");
}

async function agentSection(row: Adapter): Promise<readonly string[]> {
  const driver = await row.load();
  const { arguments: words, input, environment = {} } = driver.arguments({
    prompt: "PROMPT",
    model: "MODEL",
    reasoning: row.takes?.includes("reasoning") ? "LEVEL" : null,
    folder: "FOLDER",
  });
  const shown = [row.program ?? row.name, ...words].map((word) =>
    /^[\w=.,:/@-]+$/.test(word) ? word : `'${word.replaceAll("\n", " ")}'`
  );
  const set = Object.entries(environment);
  const page = AGENT_PAGES[row.name];
  return [
    `## ${row.name}`,
    "",
    row.proof.kind === "measured"
      ? `Measured with version ${row.proof.version}.`
      : "Written from its documentation and never run: try it with `ralph doctor --probe` first.",
    "",
    ...(row.program === null ? [] : ["```text", `${shown.join(" ")}${input === null ? "" : " < PROMPT"}`, "```", ""]),
    `- **Install:** ${row.install.startsWith("npm ") ? `\`${row.install}\`` : row.install}`,
    `- **Log in:** ${row.login}`,
    `- **Reasoning effort:** ${row.takes?.includes("reasoning") ? "`--reasoning LEVEL`" : "the program takes none"}`,
    ...(row.takes?.includes("endpoint") === true
      ? ["- **Model server:** any, by [`provider.endpoint`](../guides/agents.md#any-model-server)"]
      : []),
    `- **In the terminal**, for planning with you: ${
      row.takes?.includes("terminal") ? "yes" : "no, Ralph asks its questions itself"
    }`,
    `- **Instructions it reads:** ${row.instructions.map((path) => `\`${path}\``).join(", ")}`,
    `- **Keys it may use in a sandbox:** ${
      row.needs.keys.map((key) => `\`${key}\``).join(", ") ||
      (row.name === "builtin" ? "the one that its settings name" : "none")
    }`,
    ...(set.length === 0 || row.program === null ? [] : [
      `- **Variables that Ralph sets:** ${
        set.map(([name, value]) => value === undefined ? `\`${name}\` (unset)` : `\`${name}=${value}\``).join(", ")
      }`,
    ]),
    "- **Limits and cost:** [what is known of each](../guides/agents.md#what-is-known-of-each)",
    ...(page === undefined ? [] : [`- **Its documentation:** <${page}>`]),
    "",
  ];
}

/** docs/reference/environment.md */
export function environmentMarkdown(): string {
  const [[, flags], [, read], [, agents], [, hooks], [, notify]] = variables(COMMANDS);
  return [
    ...head("Environment", "lib/program/commands/manual.ts and the tables of flags"),
    "`ralph help environment` prints the same.",
    "",
    "## Variables of flags",
    "",
    "A flag beats its variable, a variable beats `ralph.config.json`. `0` and `false` switch off a flag without a value.",
    "",
    ...variableTable(flags),
    "## What Ralph also reads",
    "",
    ...variableTable(read),
    "Each agent reads its own variables as well, such as `ANTHROPIC_API_KEY`; Ralph hands the environment on. In a",
    "[sandbox](../guides/sandbox.md), variables that look like secrets stay outside, but for the agent's own keys.",
    "",
    "## What Ralph sets for an agent",
    "",
    ...variableTable(agents),
    "## What Ralph sets for a hook",
    "",
    "Beside those of the agent:",
    "",
    ...variableTable(hooks),
    "## What Ralph sets for the command of `notify`",
    "",
    ...variableTable(notify),
  ].join("\n");
}

function variableTable(rows: readonly Variable[]): readonly string[] {
  return [
    "| variable | meaning |",
    "| --- | --- |",
    ...rows.map(([name, meaning]) => `| \`${name}\` | ${cell(meaning)} |`),
    "",
  ];
}

/** JSON Schema, as far as events use it. */
interface Schema {
  readonly description?: string;
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

/** docs/reference/events.md */
export function eventsMarkdown(): string {
  const schemas = Object.entries(EVENT_SCHEMAS).map(([type, schema]) =>
    [type, z.toJSONSchema(schema, { io: "input" }) as Schema] as const
  );
  const shared = schemas.flatMap(([, { properties }]) => Object.entries(properties ?? {}));
  const partOf = (name: string): Schema =>
    shared.flatMap(([key, schema]) => key === name ? [withoutNull(schema)] : [])[0] ?? {};
  return [
    ...head("Events", "lib/events/schema.ts"),
    "What a run reports, one JSON object a line: in `events.ndjson` of the run's folder, and on standard output with",
    "`--json`. `ralph schema events` prints the JSON Schema. Events are not yet stable: a later version may change them, and",
    `then raises \`v\`, which is ${EVENTS_VERSION}.`,
    "",
    "Every line also has `v`, `at` (ISO time), `run` (the run's id, `null` before there is one), and `lane` (the number of",
    "its item's place among those at work or landing, where items are worked on at once). A field marked with `?` may be absent.",
    "",
    ...schemas.flatMap(([type, schema]) => [
      `## ${type}`,
      "",
      schema.description ?? "",
      "",
      ...fieldTable(schema, ["type"]),
    ]),
    "## Parts",
    "",
    "### item",
    "",
    ...fieldTable(partOf("item")),
    "### usage",
    "",
    "What a turn used. Unknown is `null`, never 0. That of `run-end` is the sum over all turns, and counts those that",
    "reported nothing: `turns`, `turnsWithoutTokens`, `turnsWithoutCost`.",
    "",
    ...fieldTable(z.toJSONSchema(EVENT_SCHEMAS["turn-end"].shape["usage"] as z.ZodType, { io: "input" }) as Schema),
  ].join("\n");
}

function withoutNull(schema: Schema): Schema {
  return schema.anyOf?.find(({ type }) => type !== "null") ?? schema;
}

function fieldTable({ properties = {}, required = [] }: Schema, without: readonly string[] = []): readonly string[] {
  const rows = Object.entries(properties).filter(([name]) => !without.includes(name));
  if (rows.length === 0) return [];
  return [
    "| field | type | meaning |",
    "| --- | --- | --- |",
    ...rows.map(([name, schema]) =>
      `| \`${name}${required.includes(name) ? "" : "?"}\` | ${typeOf(name, schema)} | ${cell(meaningOf(schema))} |`
    ),
    "",
  ];
}

function meaningOf(schema: Schema): string {
  const parts = [schema, ...schema.anyOf ?? []].flatMap(({ description }) =>
    description === undefined ? [] : [description]
  );
  return [...new Set(parts.toReversed())].join("; ");
}

function typeOf(name: string, schema: Schema): string {
  if (schema.anyOf !== undefined) return schema.anyOf.map((part) => typeOf(name, part)).join(" or ");
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${JSON.stringify(value)}\``).join(", ");
  if (schema.type === "array") return `list of ${typeOf(name, schema.items ?? {})}`;
  if (schema.type === "object") {
    if (name === "item" || name === "usage") return `[${name}](#${name})`;
    return `{ ${Object.keys(schema.properties ?? {}).map((key) => `\`${key}\``).join(", ")} }`;
  }
  return { string: "text", integer: "whole number", boolean: "`true`, `false`", null: "`null`" }[schema.type ?? ""] ??
    schema.type ?? "";
}

function head(title: string, source: string): readonly string[] {
  return [`# ${title}`, "", `<!-- Generated from ${source} by \`node tools/reference.mjs\`. -->`, ""];
}

function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll(/<(?=\w)/g, "&lt;");
}

/** docs/reference/configuration.md */
export function configMarkdown(): string {
  const keys = configKeys();
  return [
    "# Configuration",
    "",
    "<!-- Generated from lib/config/schema.ts by `node tools/reference.mjs`. -->",
    "",
    "Ralph reads `ralph.config.json` in the root of the project, or the file that `--config` names. Every key is optional but",
    "where it says otherwise; a flag beats its key. A key or value that Ralph does not know is an error. `ralph validate`",
    "shows all problems with line and column, `ralph help config` prints this page, and `ralph schema config` the JSON",
    "Schema that editors check and complete by:",
    "",
    "```json",
    JSON.stringify(
      { provider: { preset: "claude" }, verify: { default: ["npm test"] }, limits: { costUsd: 5 } },
      null,
      2,
    ),
    "```",
    "",
    ...sections(keys).flatMap(([section, own]) => [
      ...section === null ? ["## Top level"] : [`## ${section.path}`, "", section.description],
      "",
      "| key | type | default | meaning |",
      "| --- | --- | --- | --- |",
      ...own.map((key) =>
        `| \`${key.path}\` | ${cell(typeCell(key.type))} | ${cell(defaultCell(key))} | ${cell(key.description)} |`
      ),
      "",
    ]),
  ].join("\n");
}

function defaultCell({ default: usual, required }: ConfigKey): string {
  return required ? "required" : usual === null ? "" : `\`${usual}\``;
}

function typeCell(type: string): string {
  return /["|]/.test(type) ? type.split(" | ").map((part) => `\`${part}\``).join(", ") : type;
}
