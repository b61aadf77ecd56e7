/**
 * Recipes: what a `ralph.recipe.ts` exports. An ordinary function with a name and typed arguments.
 *
 * @module
 */
import type { StandardSchema } from "../backlog/schema.ts";
import type { Backlog } from "../backlog/types.ts";
import type { RalphContext } from "../context/context.ts";
import { recipeInvalid } from "../errors/ralph_error.ts";
import type { Outcome } from "./outcome.ts";

/** The arguments of a recipe that declares none. */
export interface GoalArgs {
  /** The person typed this after the command. */
  readonly goal: string;
}

/** A recipe: steps, wired. */
export interface Recipe<Args = GoalArgs> {
  readonly name: string;
  /** One line for `ralph recipes`. */
  readonly description?: string;
  /** Flags and positionals, in the order of the keys, are parsed into this. @default `{ goal: string }` */
  readonly args?: StandardSchema<Args>;
  /**
   * The backlog that it works off. With it `ralph status`, `next`, `validate` and `verify` can look at the recipe's work
   * (`--recipe FILE`).
   */
  backlog?(ralph: RalphContext): Backlog | Promise<Backlog>;
  /** Takes the goal as far as it goes. An outcome is returned; what is thrown is a bug or a broken environment. */
  run(ralph: RalphContext, args: Args): Promise<Outcome>;
}

/**
 * Names a recipe and types its arguments.
 *
 * @throws {RalphError} recipe-invalid when there is no name or no `run`
 *
 * @example A recipe with one step
 * ```ts
 * import { defineRecipe, verify } from "ralph";
 *
 * export default defineRecipe({
 *   name: "check",
 *   run: (ralph) => verify(ralph, ["npm test"]),
 * });
 * ```
 */
export function defineRecipe<Args = GoalArgs>(recipe: Recipe<Args>): Recipe<Args> {
  const problem = recipeProblem(recipe);
  if (problem !== null) {
    throw recipeInvalid("defineRecipe()", problem, 'expected `{ name: "…", run(ralph, args) { … } }`');
  }
  return recipe;
}

/** Why a value is no recipe, or `null` when it is one. */
export function recipeProblem(value: unknown): string | null {
  if (typeof value === "function") return "a function is no recipe: give it to `defineRecipe()` as `run`";
  if (typeof value !== "object" || value === null) {
    return `a recipe must be an object (got: ${value === null ? "null" : typeof value})`;
  }
  const { name, run } = value as { readonly name?: unknown; readonly run?: unknown };
  if (typeof name !== "string" || name.trim() === "") return "`name` must be a text that is not empty";
  if (typeof run !== "function") return "`run` must be a function";
  return null;
}
