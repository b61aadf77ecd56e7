/**
 * Loads a recipe file in whichever runtime Ralph runs, and says where it is wrong when it is.
 *
 * @module
 */
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { RalphError } from "../errors/ralph_error.ts";
import { pathExists } from "../host/files.ts";
import { type OwnModules, serveBuiltinModules } from "./bundled_modules.ts";
import { type Recipe, recipeProblem } from "./define_recipe.ts";
import { importFailure, type RecipeHost, runFailure } from "./failure.ts";

/** A recipe whose arguments are not known here: its schema says what they are. */
export type LoadedRecipe = Recipe<unknown>;

const SHAPE = "expected `export default defineRecipe({ name, run })`; docs/guides/recipes.md shows one";

/**
 * Imports the file, runs its top level, and checks that its default export is a recipe. A later error of the recipe's
 * `run` comes out as `recipe-failed`, with the line of the recipe.
 *
 * @param file Path of a `.ts`, `.js` or `.mjs` file; a relative one counts from the current folder
 * @throws {RalphError} recipe-invalid when the file is missing, does not parse, imports what is not there, or exports no recipe
 * @throws {RalphError} recipe-failed when its top level threw
 */
export async function loadRecipe(file: string, host: RecipeHost): Promise<LoadedRecipe> {
  const path = resolve(host.environment.cwd, file);
  if (!await pathExists(path)) throw invalid(path, "the file does not exist", "name an existing recipe file");
  await serveBuiltinModules(dirname(path), host.modules);
  const exported: Readonly<Record<string, unknown>> = await import(pathToFileURL(path).href)
    .catch(async (error: unknown) => {
      throw await importFailure(error, path, host);
    });
  if (!("default" in exported)) throw invalid(path, "the file has no default export", SHAPE);
  const problem = recipeProblem(exported["default"]);
  if (problem !== null) throw invalid(path, `the default export is not a recipe: ${problem}`, SHAPE);
  return withLocatedErrors(exported["default"] as LoadedRecipe, path);
}

function withLocatedErrors(recipe: LoadedRecipe, path: string): LoadedRecipe {
  return {
    ...recipe,
    async run(ralph, args) {
      try {
        return await recipe.run(ralph, args);
      } catch (error) {
        if (ralph.signal.aborted && !RalphError.isInstance(error)) {
          throw new RalphError("interrupted", { cause: error });
        }
        throw runFailure(error, path);
      }
    },
  };
}

function invalid(path: string, problem: string, hint: string): RalphError {
  return new RalphError("recipe-invalid", { details: { path, problem }, hint });
}

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
