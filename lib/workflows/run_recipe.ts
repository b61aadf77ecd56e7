import { fileURLToPath } from "node:url";
import type { Command } from "../cli/command.ts";
import type { Recipe } from "../recipe/define_recipe.ts";

/** `runRecipe()` reads these parts of `import.meta`. */
export interface RecipeMeta {
  readonly url: string;
  /** Missing on Node before 24. */
  readonly main?: boolean;
}

/**
 * The last line of a recipe file: makes `bun FILE` and `deno run -A FILE` run it, with the flags of `ralph run-recipe`
 * and the arguments that the recipe declares. Does nothing when the file is imported, so `ralph exec` can load it.
 *
 * @example The end of a recipe file
 * ```ts
 * import { defineRecipe, runRecipe, verify } from "ralph";
 *
 * const recipe = defineRecipe({ name: "check", run: (ralph) => verify(ralph, ["npm test"]) });
 *
 * export default recipe;
 * await runRecipe(recipe, import.meta);
 * ```
 */
export async function runRecipe<Args>(recipe: Recipe<Args>, meta: RecipeMeta): Promise<void> {
  const { commandLine, isMainModule, setExitCode } = await import("../host/this_process.ts");
  if (!isMainModule(meta)) return;
  const { createHost } = await import("../host/create_host.ts");
  const { guarded, startCommand } = await import("../cli/run_command.ts");
  const { WORKFLOWS } = await import("./table.ts");
  const command = await commandFor(recipe as Recipe<unknown>, fileURLToPath(meta.url));
  const line = commandLine();
  // a recipe that is the program itself loads no other
  const program = { commands: [command], workflows: WORKFLOWS, recipes: { shipped: [], modules: {} } };
  setExitCode(await guarded(line, { host: createHost(), program }, (around) => startCommand(command, line, around)));
}

/** The recipe as a command of its own: with Ralph's flags and the recipe's own. */
async function commandFor(recipe: Recipe<unknown>, file: string): Promise<Command> {
  const { RUN_FLAGS } = await import("../cli/flags.ts");
  const { argFields } = await import("../recipe/fields.ts");
  const { flagsOf, recipeUsage, valuesOf } = await import("../cli/recipe_args.ts");
  const fields = await argFields(recipe.args);
  return {
    name: recipe.name,
    summary: recipe.description ?? `the recipe ${recipe.name}`,
    usage: recipeUsage(fields ?? []),
    arity: [0, Number.MAX_SAFE_INTEGER],
    helpLine: "--help",
    flags: { ...RUN_FLAGS, ...flagsOf(fields ?? []) },
    load: async () => {
      const { runLoaded } = await import("../cli/recipe_args.ts");
      return { run: (invocation) => runLoaded(invocation, recipe, valuesOf(recipe, fields, invocation), file) };
    },
  };
}
