import { resolve } from "node:path";
import { EXIT } from "../../errors/exit_codes.ts";
import type { Invocation } from "../command.ts";
import { parseRecipeArgs, recipeHelp } from "../recipe_args.ts";
import { loadRecipe } from "../recipe_loader.ts";
import { runLoaded } from "../run_loaded.ts";

/** `ralph run-recipe FILE …`: any recipe, with the arguments that it declares. */
export async function run(invocation: Invocation): Promise<number> {
  const { arguments: [file = ""], rest, host, out } = invocation;
  const recipe = await loadRecipe(resolve(host.environment.cwd, file), host);
  if (rest.includes("--help") || rest.includes("-h")) {
    out(await recipeHelp(recipe, `ralph run-recipe ${file}`));
    return EXIT.done;
  }
  return await runLoaded(invocation, recipe, await parseRecipeArgs(recipe, rest));
}
