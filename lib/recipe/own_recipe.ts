import { join } from "node:path";
import { pathExists } from "../host/files.ts";

/** The file in the root that `ralph exec` runs instead of the built-in recipe. */
export const OWN_RECIPE = "ralph.recipe.ts";

/** Its absolute path when it is there, else `null`. */
export async function findOwnRecipe(root: string): Promise<string | null> {
  const path = join(root, OWN_RECIPE);
  return await pathExists(path) ? path : null;
}
