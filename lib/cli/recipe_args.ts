/**
 * A recipe's own command line: flags and positionals from the schema that it declares.
 *
 * @module
 */
import type { SchemaIssue } from "../backlog/schema.ts";
import type { Recipe } from "../recipe/define_recipe.ts";
import { type ArgField, argFields } from "../recipe/fields.ts";
import type { LoadedRecipe } from "../recipe/loader.ts";
import * as commands from "./command.ts";
import { endWith } from "./end_with.ts";
import { flagRows } from "./help.ts";
import { openSession } from "./session.ts";
import { optional } from "./settings.ts";

type AnyRecipe = Pick<Recipe<unknown>, "name" | "description" | "args">;

/** The words after a recipe's file: the object that its schema is given, and Ralph's flags among it. */
export interface RecipeLine {
  readonly values: Readonly<Record<string, unknown>>;
  readonly flags: commands.Flags;
}

/**
 * Reads what follows a recipe's file. A name that the recipe declares is the recipe's, also where Ralph has it too.
 *
 * @param command the command that runs the file, with Ralph's flags
 * @throws {RalphError} usage
 */
export async function parseRecipeLine(
  recipe: AnyRecipe,
  command: commands.Command,
  line: readonly string[],
): Promise<RecipeLine> {
  const fields = await argFields(recipe.args);
  if (fields === null) return { values: freeArgs(line), flags: commands.flagsFrom(() => []) };
  const own = flagsOf(fields);
  const parsed = commands.parseLine({ ...command, open: false, flags: { ...command.flags, ...own } }, line, {});
  return {
    values: valuesOf(recipe, fields, parsed),
    flags: commands.flagsFrom((name) => Object.hasOwn(own, name) ? [] : parsed.flags.all(name)),
  };
}

/** The values of flags and places, by the keys of the schema. @throws {RalphError} usage */
export function valuesOf(
  recipe: AnyRecipe,
  fields: readonly ArgField[] | null,
  parsed: { readonly arguments: readonly string[]; readonly flags: commands.Flags },
): Readonly<Record<string, unknown>> {
  if (fields === null) return freeArgs(parsed.arguments);
  const values: Record<string, unknown> = {};
  for (const field of fields) {
    if (parsed.flags.has(field.flag)) values[field.key] = valueOf(field, parsed.flags.all(field.flag));
  }
  const places = fields.filter((field) => field.type !== "boolean" && !Object.hasOwn(values, field.key));
  const surplus = parsed.arguments.slice(places.length);
  if (surplus.length > 0 && places.at(-1)?.many !== true) {
    throw commands.usage(`the recipe ${recipe.name} takes no argument ${surplus[0]}`, "quote a text of several words");
  }
  places.forEach((field, index) => {
    const given = field.many ? parsed.arguments.slice(index) : parsed.arguments.slice(index, index + 1);
    if (given.length > 0) values[field.key] = valueOf(field, given);
  });
  return values;
}

/** Lets the schema judge and fill in. @throws {RalphError} usage with every issue */
export async function validateArgs(recipe: AnyRecipe, values: unknown): Promise<unknown> {
  if (recipe.args === undefined) return { goal: "", ...values as object };
  const result = await recipe.args["~standard"].validate(values);
  if (result.issues === undefined) return result.value;
  const fields = await argFields(recipe.args) ?? [];
  throw commands.usage(
    `arguments of the recipe ${recipe.name}: ${result.issues.map((issue) => issueText(issue, fields)).join("; ")}`,
    fields.length === 0 ? "see the recipe's `args`" : `it takes ${fields.map(({ flag }) => `--${flag}`).join(", ")}`,
  );
}

/** `--help` of a recipe. */
export async function recipeHelp(recipe: AnyRecipe, program: string): Promise<string> {
  const fields = await argFields(recipe.args) ?? [];
  return [
    recipe.description ?? `the recipe ${recipe.name}`,
    "",
    `Usage: ${program} ${recipeUsage(fields)}`.trimEnd(),
    ...(fields.length === 0 ? [] : ["", "Flags (or by place, in this order):", ...flagRows(flagsOf(fields))]),
  ].join("\n");
}

/** The places, as a usage line shows them. */
export function recipeUsage(fields: readonly ArgField[]): string {
  const places = fields.filter(({ type }) => type !== "boolean").map((field) => {
    const name = field.many ? `${field.flag}…` : field.flag;
    return field.required ? `<${name}>` : `[${name}]`;
  });
  return places.join(" ");
}

/** The flags of a recipe's arguments. */
export function flagsOf(fields: readonly ArgField[]): commands.FlagTable {
  return Object.fromEntries(fields.map((field): [string, commands.Flag] => [field.flag, {
    type: field.type === "boolean" ? "boolean" : "text",
    summary: field.summary,
    value: field.type === "number" ? "N" : "TEXT",
    many: field.many,
    empty: true,
    ...(field.choices === null ? {} : { choices: field.choices }),
  }]));
}

function valueOf(field: ArgField, given: readonly string[]): unknown {
  if (field.type === "boolean") return true;
  const values = given.map((text) =>
    field.type === "number" && text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : text
  );
  return field.many ? values : values.at(-1);
}

/** Without a schema that names its keys: `--key value`, and the first argument is the goal. */
function freeArgs(line: readonly string[]): Readonly<Record<string, unknown>> {
  const values: Record<string, unknown> = {};
  for (let index = 0; index < line.length; index++) {
    const word = line[index] as string;
    const [, name, value] = /^--([^=]+)(?:=(.*))?$/s.exec(word) ?? [];
    if (name === undefined) {
      if (Object.hasOwn(values, "goal")) {
        throw commands.usage(`one argument too many: ${word}`, "quote a goal of several words");
      }
      values["goal"] = word;
    } else {
      const next = line[index + 1];
      const taken = value === undefined && next !== undefined && !next.startsWith("-");
      if (taken) index += 1;
      values[name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase())] = value ?? (taken ? next : true);
    }
  }
  return values;
}

function issueText({ message, path = [] }: SchemaIssue, fields: readonly ArgField[]): string {
  const keys = path.map((part) => String(typeof part === "object" ? part.key : part));
  const field = fields.find(({ key }) => key === keys[0]);
  const name = field === undefined ? keys.join(".") : [`--${field.flag}`, ...keys.slice(1)].join(".");
  return name === "" ? message : `${name}: ${message}`;
}

/** Runs a recipe that is already loaded, with the values that its command line gave; `file` is the recipe's own. */
export async function runLoaded(
  invocation: commands.Invocation,
  recipe: LoadedRecipe,
  values: unknown,
  file?: string,
): Promise<number> {
  const args = await validateArgs(recipe, values);
  const title = `recipe ${recipe.name}`;
  await using session = await openSession(invocation, { asks: false, gates: null, title, ...optional("recipe", file) });
  return endWith(invocation, session.ralph, await recipe.run(session.ralph, args), null);
}
