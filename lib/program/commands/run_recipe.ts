import { resolve } from "node:path";
import { EXIT } from "../../errors/exit_codes.ts";
import type { Flags, Invocation } from "../../cli/command.ts";
import { parseRecipeLine, recipeHelp } from "../../cli/recipe_args.ts";
import { loadRecipe } from "../../recipe/loader.ts";
import { runLoaded } from "../../cli/run_loaded.ts";

/** `ralph run-recipe FILE …`: any recipe, with the arguments that it declares. */
export async function run(invocation: Invocation): Promise<number> {
  const { arguments: [file = ""], command, flags, rest, host, out, program } = invocation;
  const path = resolve(host.environment.cwd, file);
  const recipe = await loadRecipe(path, { ...host, modules: program.recipes.modules });
  const line = `ralph run-recipe ${file}`;
  if (rest.includes("--help") || rest.includes("-h")) {
    out(await recipeHelp(recipe, line));
    return EXIT.done;
  }
  const named = { ...command, name: `run-recipe ${file}`, helpLine: `${line} --help` };
  const parsed = await parseRecipeLine(recipe, named, rest);
  return await runLoaded({ ...invocation, flags: joined(flags, parsed.flags) }, recipe, parsed.values, path);
}

/** Flags before the file and after it; the later one counts. */
function joined(before: Flags, after: Flags): Flags {
  return {
    has: (name) => before.has(name) || after.has(name),
    text: (name) => after.text(name) ?? before.text(name),
    all: (name) => [...before.all(name), ...after.all(name)],
  };
}
