import { resolve } from "node:path";
import { brotliDecompressSync } from "node:zlib";
import { entryOf, type Invocation, printed, styleFor, toJson, usage } from "../../cli/command.ts";
import { table } from "../../cli/help.ts";
import { resolveRoot } from "../../cli/workspace.ts";
import { EXIT } from "../../errors/ralph_error.ts";
import { BASH, FISH, POWERSHELL, ZSH } from "../../generated/completions.ts";
import { PROMPTS } from "../../generated/prompts.ts";
import { RECIPE_TEXTS } from "../../generated/recipes.ts";
import { makeInside, writeAtomic } from "../../host/files.ts";
import { VERSION } from "../../host/version.ts";
import { findPrompt } from "../../prompts/render.ts";
import { findOwnRecipe, OWN_RECIPE } from "../../recipe/loader.ts";
import { DEFAULT_WORKFLOW, WORKFLOWS } from "../../workflows/table.ts";
import { SHIPPED_RECIPES } from "../shipped_recipes.ts";

/** The schemas there are: what each is of. */
const SCHEMAS: Readonly<Record<string, () => Promise<unknown>>> = {
  attest: async () => (await import("../../attest/schema.ts")).attestJsonSchema(),
  config: async () => (await import("../../config/json_schema.ts")).configJsonSchema(),
  events: async () => (await import("../../events/schema.ts")).eventsJsonSchema(),
  ...Object.assign({}, ...WORKFLOWS.map(({ schemas }) => schemas)),
  gate: async () => (await import("../../report/schema.ts")).gateJsonSchema(),
  report: async () => (await import("../../report/schema.ts")).reportJsonSchema(),
};

/** Their names. */
export const SCHEMA_NAMES: readonly string[] = Object.keys(SCHEMAS);

/** `ralph types`: the declarations of the SDK, for editors and `tsc` where no package is installed. */
export async function types({ flags, host, out, say }: Invocation): Promise<number> {
  const { PACKED_TYPES } = await import("../../generated/types.ts");
  const declarations = brotliDecompressSync(Buffer.from(PACKED_TYPES, "base64")).toString("utf8").trimEnd();
  const text =
    `// The declarations of \`ralph\` ${VERSION} and its subpaths, written by \`ralph types\`.\n\n${declarations}`;
  const file = flags.text("output");
  if (file === undefined) return printed(out, text);
  await writeAtomic(resolve(host.environment.cwd, file), `${text}\n`);
  say(`wrote ${file}`);
  return printed(say, "hint: `/// <reference path=...>` or a tsconfig.json finds it: `ralph help types` shows both");
}

/** `ralph schema NAME`: the JSON Schema of the configuration, of a line of events, of the plan and what the commands on it print, or of a report. */
export async function schema({ arguments: [name = ""], out }: Invocation): Promise<number> {
  const make = entryOf(SCHEMAS, name, `there is no schema named ${name}`, "schemas");
  return printed(out, toJson(await make()));
}

/** `ralph recipes`: what is built in, and what the project overrides. */
export async function recipes(invocation: Invocation): Promise<number> {
  const { flags, out } = invocation;
  const root = await resolveRoot(invocation);
  const own = await findOwnRecipe(root);
  const recipes = await Promise.all(
    SHIPPED_RECIPES.map(async ({ name, load }) => ({ name, description: (await load()).description ?? "" })),
  );
  const prompts = await Promise.all(
    Object.keys(PROMPTS).map(async (name) => ({ name, from: (await findPrompt(name, { root })).from })),
  );
  if (flags.has("json")) return printed(out, toJson({ recipes, own, prompts }));
  const { bold } = styleFor(invocation, "stdout");
  out(bold("Recipes"));
  for (const line of table(recipes.map(({ name, description }) => [name, description] as const))) out(line);
  if (own !== null) out(`  ${own} is used by \`${DEFAULT_WORKFLOW.start}\``);
  out(bold("Prompts"));
  for (const line of table(prompts.map(({ name, from }) => [name, from] as const))) out(line);
  return printed(invocation.say, "hint: `ralph eject NAME` writes one out for editing");
}

/** `ralph eject NAME`: writes a built-in recipe or prompt out, unless something is there. */
export async function eject(invocation: Invocation): Promise<number> {
  const { arguments: [name = ""], say, out } = invocation;
  const root = await resolveRoot(invocation);
  const problem = `there is no recipe or prompt named ${name}`;
  const text = entryOf({ ...RECIPE_TEXTS, ...PROMPTS }, name, problem, "names", (near) => `ralph eject ${near}`);
  const path = Object.hasOwn(RECIPE_TEXTS, name) ? OWN_RECIPE : `.ralph/prompts/${name}.md`;
  if (!await makeInside(root, path, text)) {
    throw usage(`${path} exists and is not overwritten`, "move it aside first");
  }
  out(path);
  say(
    path === OWN_RECIPE
      ? `\`${DEFAULT_WORKFLOW.start}\` uses it from now on`
      : "Ralph uses it instead of the built-in prompt from now on",
  );
  return EXIT.done;
}

/**
 * A script for each shell. It asks the program at the beginning of the line which words fit (`offers.ts`), so that it is
 * right for every version.
 */
export const SCRIPTS: Readonly<Record<string, string>> = { bash: BASH, zsh: ZSH, fish: FISH, powershell: POWERSHELL };

/** Shells that have a script. */
export const SHELLS: readonly string[] = Object.keys(SCRIPTS);

/** `ralph completions SHELL`: the script for that shell. */
export async function completions({ arguments: [shell = ""], out }: Invocation): Promise<number> {
  return printed(out, entryOf(SCRIPTS, shell, `there is no completion for ${shell}`, "shells").trimEnd());
}
