import { EXIT } from "../../errors/exit_codes.ts";
import { findPrompt } from "../../prompts/render.ts";
import { PROMPTS } from "../../generated/prompts.ts";
import { SHIPPED_RECIPES } from "../shipped_recipes.ts";
import type { Invocation } from "../../cli/command.ts";
import { table } from "../../cli/help.ts";
import { findOwnRecipe, OWN_RECIPE } from "../../recipe/registry.ts";
import { resolveRoot } from "../../cli/root.ts";
import { DEFAULT_WORKFLOW } from "../../workflows/table.ts";
import { styleFor, toJson } from "../../cli/show.ts";
import { join } from "node:path";
import { pathExists, writeAtomic } from "../../host/files.ts";
import { RECIPE_TEXTS } from "../../generated/recipes.ts";
import { didYouMean, usage } from "../../cli/parse.ts";

/** `ralph recipes`: what is built in, and what the project overrides. */
export async function recipes(invocation: Invocation): Promise<number> {
  const { flags, out } = invocation;
  const root = await resolveRoot(invocation);
  const own = await findOwnRecipe(root);
  const recipes = SHIPPED_RECIPES.map(({ name, description }) => ({ name, description }));
  const prompts = await Promise.all(
    Object.keys(PROMPTS).map(async (name) => ({ name, from: (await findPrompt(name, { root })).from })),
  );
  if (flags.has("json")) {
    out(toJson({ recipes, own, prompts }));
    return EXIT.done;
  }
  const { bold } = styleFor(invocation, "stdout");
  out(bold("Recipes"));
  for (const line of table(recipes.map(({ name, description }) => [name, description] as const))) out(line);
  if (own !== null) out(`  ${own} is used by \`${DEFAULT_WORKFLOW.start}\``);
  out(bold("Prompts"));
  for (const line of table(prompts.map(({ name, from }) => [name, from] as const))) out(line);
  invocation.say("hint: `ralph eject NAME` writes one out for editing");
  return EXIT.done;
}

/** `ralph eject NAME`: writes a built-in recipe or prompt out, unless something is there. */
export async function eject(invocation: Invocation): Promise<number> {
  const { arguments: [name = ""], say, out } = invocation;
  const root = await resolveRoot(invocation);
  const { path, text } = find(name);
  const file = join(root, path);
  if (await pathExists(file)) throw usage(`${path} exists and is not overwritten`, "move it aside first");
  await writeAtomic(file, text);
  out(path);
  say(
    path === OWN_RECIPE
      ? `\`${DEFAULT_WORKFLOW.start}\` uses it from now on`
      : "Ralph uses it instead of the built-in prompt from now on",
  );
  return EXIT.done;
}

function find(name: string): { readonly path: string; readonly text: string } {
  const recipe = Object.hasOwn(RECIPE_TEXTS, name) ? RECIPE_TEXTS[name] : undefined;
  if (recipe !== undefined) return { path: OWN_RECIPE, text: recipe };
  const prompt = Object.hasOwn(PROMPTS, name) ? PROMPTS[name] : undefined;
  if (prompt !== undefined) return { path: `.ralph/prompts/${name}.md`, text: prompt };
  const names = [...SHIPPED_RECIPES.map((known) => known.name), ...Object.keys(PROMPTS)];
  const hint = didYouMean(name, names, `names: ${names.join(", ")}`, (near) => `ralph eject ${near}`);
  throw usage(`there is no recipe or prompt named ${name}`, hint);
}
