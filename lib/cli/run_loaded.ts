import type { Invocation } from "./command.ts";
import { endWith } from "./end_with.ts";
import { validateArgs } from "./recipe_args.ts";
import type { LoadedRecipe } from "../recipe/loader.ts";
import { optional } from "./settings.ts";
import { openSession } from "./session.ts";

/** Runs a recipe that is already loaded, with the values that its command line gave; `file` is the recipe's own. */
export async function runLoaded(
  invocation: Invocation,
  recipe: LoadedRecipe,
  values: unknown,
  file?: string,
): Promise<number> {
  const args = await validateArgs(recipe, values);
  const title = `recipe ${recipe.name}`;
  await using session = await openSession(invocation, { asks: false, gates: null, title, ...optional("recipe", file) });
  return endWith(invocation, session.ralph, await recipe.run(session.ralph, args), null);
}
