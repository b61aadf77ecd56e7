import { resolve } from "node:path";
import { flagsFrom, type Invocation, printed } from "../../cli/command.ts";
import { parseRecipeLine, recipeHelp, runLoaded } from "../../cli/recipe_args.ts";
import { loadRecipe } from "../../recipe/loader.ts";

/** `ralph run-recipe FILE …`: any recipe, with the arguments that it declares. */
export async function run(invocation: Invocation): Promise<number> {
  const { arguments: [file = ""], command, flags, rest, host, out, program } = invocation;
  const path = resolve(host.environment.cwd, file);
  const recipe = await loadRecipe(path, { ...host, modules: program.recipes.modules });
  const line = `ralph run-recipe ${file}`;
  if (rest.includes("--help") || rest.includes("-h")) return printed(out, await recipeHelp(recipe, line));
  const named = { ...command, name: `run-recipe ${file}`, helpLine: `${line} --help` };
  const parsed = await parseRecipeLine(recipe, named, rest);
  // Before the file and after it; the later one counts.
  const both = flagsFrom((name) => [...flags.all(name), ...parsed.flags.all(name)]);
  return await runLoaded({ ...invocation, flags: both }, recipe, parsed.values, path);
}
