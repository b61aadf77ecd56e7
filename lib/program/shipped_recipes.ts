import type { LoadedRecipe, ShippedRecipe } from "../recipe/loader.ts";

const ROWS: readonly (readonly [name: string, description: string, load: () => Promise<unknown>])[] = [
  ["exec", "plan a goal, understand the code, implement it: each by consent", () => import("../../recipes/exec.ts")],
  [
    "feature",
    "work off a feature's stories until a final verification accepts them",
    () => import("../../recipes/feature.ts"),
  ],
  [
    "gsd",
    "the plans of a GSD project, one a fresh agent, each verified by the commands that it names",
    () => import("../../recipes/gsd.ts"),
  ],
  [
    "spec",
    "plan a spec, then build, verify and investigate until nothing is left",
    () => import("../../recipes/spec.ts"),
  ],
  [
    "sprint",
    "a free loop over a goal, with hooks that run with each iteration",
    () => import("../../recipes/sprint.ts"),
  ],
  ["todo", "an example: a Markdown TODO list as a backlog of your own", () => import("../../recipes/todo.ts")],
];

/** The recipes in recipes/; their texts are in lib/generated/recipes.ts. */
export const SHIPPED_RECIPES: readonly ShippedRecipe[] = ROWS.map(([name, description, load]) => ({
  name,
  description,
  load: async () => await load() as { readonly default: LoadedRecipe },
}));
