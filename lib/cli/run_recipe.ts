import { fileURLToPath } from "node:url";
import type { Recipe } from "../recipe/define_recipe.ts";
import type { Command } from "./command.ts";

/** What `runRecipe()` reads of `import.meta`. */
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
  const { isMainModule } = await import("../host/is_main_module.ts");
  if (!await isMainModule(meta)) return;
  const { createHost } = await import("../host/create_host.ts");
  const { commandLine, setExitCode } = await import("../host/command_line.ts");
  const { runCommand } = await import("../program/main.ts");
  setExitCode(
    await runCommand(await commandFor(recipe as Recipe<unknown>, fileURLToPath(meta.url)), commandLine(), createHost()),
  );
}

/** The recipe as a command of its own: Ralph's flags and the recipe's stand beside each other. */
async function commandFor(recipe: Recipe<unknown>, file: string): Promise<Command> {
  const { findCommand } = await import("../program/commands.ts");
  const { argFields } = await import("../recipe/fields.ts");
  const { flagsOf, recipeUsage, valuesOf } = await import("./recipe_args.ts");
  const own = findCommand("run-recipe") as Command;
  const fields = await argFields(recipe.args);
  return {
    ...own,
    name: recipe.name,
    summary: recipe.description ?? `the recipe ${recipe.name}`,
    usage: recipeUsage(fields ?? []),
    arity: [0, Number.MAX_SAFE_INTEGER],
    open: false,
    helpLine: "--help",
    flags: { ...own.flags, ...flagsOf(fields ?? []) },
    load: async () => {
      const { runLoaded } = await import("./run_loaded.ts");
      return { run: (invocation) => runLoaded(invocation, recipe, valuesOf(recipe, fields, invocation), file) };
    },
  };
}
