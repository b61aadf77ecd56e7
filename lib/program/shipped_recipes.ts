import type { LoadedRecipe } from "../recipe/loader.ts";
import type { ShippedRecipe } from "../recipe/registry.ts";

type Module = Promise<{ readonly default: LoadedRecipe }>;

/** The recipes in recipes/; their texts are in lib/generated/recipes.ts. */
export const SHIPPED_RECIPES: readonly ShippedRecipe[] = [
  {
    name: "exec",
    description: "plan a goal, understand the code, implement it: each by consent",
    load: () => import("../../recipes/exec.ts") as Module,
  },
  {
    name: "feature",
    description: "work off a feature's stories until a final verification accepts them",
    load: () => import("../../recipes/feature.ts") as Module,
  },
  {
    name: "gsd",
    description: "the plans of a GSD project, one a fresh agent, each verified by the commands that it names",
    load: () => import("../../recipes/gsd.ts") as Module,
  },
  {
    name: "spec",
    description: "plan a spec, then build, verify and investigate until nothing is left",
    load: () => import("../../recipes/spec.ts") as Module,
  },
  {
    name: "sprint",
    description: "a free loop over a goal, with hooks that run with each iteration",
    load: () => import("../../recipes/sprint.ts") as Module,
  },
  {
    name: "todo",
    description: "an example: a Markdown TODO list as a backlog of your own",
    load: () => import("../../recipes/todo.ts") as Module,
  },
];
