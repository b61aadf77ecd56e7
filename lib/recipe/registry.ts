import type { LoadedRecipe } from "./loader.ts";
import type { OwnModules } from "./bundled_modules.ts";
import { join } from "node:path";
import { pathExists } from "../host/files.ts";

/** The file in the root that `ralph exec` runs instead of the built-in recipe. */
export const OWN_RECIPE = "ralph.recipe.ts";

/** A recipe that comes with Ralph. */
export interface ShippedRecipe {
  readonly name: string;
  readonly description: string;
  readonly load: () => Promise<{ readonly default: LoadedRecipe }>;
}

/** Recipes by name, and the modules that recipe files import. The program fills it and hands it down. */
export interface RecipeRegistry {
  readonly shipped: readonly ShippedRecipe[];
  readonly modules: OwnModules;
}

/** Loads a shipped recipe. @throws {Error} for a name that none has */
export async function shippedRecipe({ shipped }: RecipeRegistry, name: string): Promise<LoadedRecipe> {
  const recipe = shipped.find((one) => one.name === name);
  if (recipe === undefined) throw new Error(`no recipe named ${name} is built in`);
  return (await recipe.load()).default;
}

/** Its absolute path when it is there, else `null`. */
export async function findOwnRecipe(root: string): Promise<string | null> {
  const path = join(root, OWN_RECIPE);
  return await pathExists(path) ? path : null;
}
