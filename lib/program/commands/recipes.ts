import { EXIT } from "../../errors/exit_codes.ts";
import { findPrompt } from "../../prompts/render.ts";
import { PROMPTS } from "../../generated/prompts.ts";
import { SHIPPED_RECIPES } from "../shipped_recipes.ts";
import type { Invocation } from "../../cli/command.ts";
import { table } from "../../cli/help.ts";
import { findOwnRecipe } from "../../recipe/own_recipe.ts";
import { resolveRoot } from "../../cli/root.ts";
import { DEFAULT_WORKFLOW } from "../../workflows/table.ts";
import { styleFor, toJson } from "../../cli/show.ts";

/** `ralph recipes`: what is built in, and what the project overrides. */
export async function run(invocation: Invocation): Promise<number> {
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
