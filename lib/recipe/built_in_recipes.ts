import type { LoadedRecipe } from "./loader.ts";

/** A recipe that comes with Ralph. */
export interface BuiltInRecipe {
  readonly name: string;
  readonly description: string;
  readonly load: () => Promise<{ readonly default: LoadedRecipe }>;
}

/** The recipes in recipes/; their texts are in embedded_recipes.ts. */
export const BUILT_IN_RECIPES: readonly BuiltInRecipe[] = [
  {
    name: "exec",
    description: "plan a goal, understand the code, implement it: each by consent",
    load: async () => await import("../../recipes/exec.ts") as { readonly default: LoadedRecipe },
  },
  {
    name: "feature",
    description: "work off a feature's stories until a final verification accepts them",
    load: async () => await import("../../recipes/feature.ts") as { readonly default: LoadedRecipe },
  },
  {
    name: "gsd",
    description: "the plans of a GSD project, one a fresh agent, each verified by the commands that it names",
    load: async () => await import("../../recipes/gsd.ts") as { readonly default: LoadedRecipe },
  },
  {
    name: "spec",
    description: "plan a spec, then build, verify and investigate until nothing is left",
    load: async () => await import("../../recipes/spec.ts") as { readonly default: LoadedRecipe },
  },
  {
    name: "sprint",
    description: "a free loop over a goal, with hooks that run with each iteration",
    load: async () => await import("../../recipes/sprint.ts") as { readonly default: LoadedRecipe },
  },
  {
    name: "todo",
    description: "an example: a Markdown TODO list as a backlog of your own",
    load: async () => await import("../../recipes/todo.ts") as { readonly default: LoadedRecipe },
  },
];
