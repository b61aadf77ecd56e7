import type { LoadedRecipe, ShippedRecipe } from "../recipe/loader.ts";

const MODULES: Readonly<Record<string, () => Promise<unknown>>> = {
  exec: () => import("../../recipes/exec.ts"),
  feature: () => import("../../recipes/feature.ts"),
  gsd: () => import("../../recipes/gsd.ts"),
  spec: () => import("../../recipes/spec.ts"),
  sprint: () => import("../../recipes/sprint.ts"),
  todo: () => import("../../recipes/todo.ts"),
};

/** The recipes in recipes/; their texts are in lib/generated/recipes.ts. */
export const SHIPPED_RECIPES: readonly ShippedRecipe[] = Object.entries(MODULES).map(([name, load]) => ({
  name,
  load: async () => (await load() as { readonly default: LoadedRecipe }).default,
}));
