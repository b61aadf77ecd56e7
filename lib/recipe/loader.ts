/**
 * Loads a recipe file in whichever runtime Ralph runs, and says where it is wrong when it is.
 *
 * @module
 */
import { dirname, join, resolve, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { nearest, notGenerated, RalphError, recipeInvalid } from "../errors/ralph_error.ts";
import { pathExists, readText } from "../host/files.ts";
import type { Host } from "../host/types.ts";
import { unstyledText } from "../host/terminal.ts";
import { importableModules, ownExports, ownModuleOf, type OwnModules, serveBuiltinModules } from "./bundled_modules.ts";
import { type Recipe, recipeProblem } from "./define_recipe.ts";
import { findImportedName, localFiles, type Place } from "./local_files.ts";

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
  if (!await pathExists(path)) throw recipeInvalid(path, "the file does not exist", "name an existing recipe file");
  await serveBuiltinModules(dirname(path), host.modules);
  const exported: Readonly<Record<string, unknown>> = await import(pathToFileURL(path).href)
    .catch(async (error: unknown) => {
      throw await importFailure(error, path, host);
    });
  if (!("default" in exported)) throw recipeInvalid(path, "the file has no default export", SHAPE);
  const problem = recipeProblem(exported["default"]);
  if (problem !== null) throw recipeInvalid(path, `the default export is not a recipe: ${problem}`, SHAPE);
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

/** The file in the root that `ralph exec` runs instead of the built-in recipe. */
export const OWN_RECIPE = "ralph.recipe.ts";

/** A recipe that comes with Ralph. */
export interface ShippedRecipe {
  readonly name: string;
  readonly load: () => Promise<LoadedRecipe>;
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
  return await recipe.load();
}

/** Its absolute path when it is there, else `null`. */
export async function findOwnRecipe(root: string): Promise<string | null> {
  const path = join(root, OWN_RECIPE);
  return await pathExists(path) ? path : null;
}

/** Loading a recipe file and explaining its failure take this. */
interface RecipeHost extends Pick<Host, "environment" | "processes"> {
  readonly modules: OwnModules;
}

/** The fields by which the three runtimes' errors differ. */
interface Thrown {
  readonly name: string;
  readonly message: string;
  readonly stack: string;
  readonly code: string;
  readonly position: Place | null;
  /** As it was thrown. */
  readonly cause: unknown;
}

const MISSING_EXPORT_REGEXP = /[Ee]xport named '([^']+)'(?: not found in module '([^']+)')?/;
const REQUESTED_MODULE_REGEXP = /requested module '([^']+)'/;
const MISSING_IMPORTED_REGEXP = /Cannot find (package|module) '([^']+)'(?: imported)? from '?([^'\n]+?)'?$/m;
const MISSING_DEPENDENCY_REGEXP = /(?:Import|Relative import path) "([^"]+)" not/;
const MISSING_FILE_REGEXP = /Module not found "([^"]+)"/;
const URL_PLACE_REGEXP = /(file:\/\/[^\s)]+?):(\d+):(\d+)/;
const NODE_ARROW_REGEXP = /^(file:\/\/\S+?|\/\S+?|[A-Z]:\\\S+?):(\d+)\n(?:.*\n){1,3}?([ \t]*)\^/;
const FRAME_REGEXP = /(?:\(|at (?:async )?)((?:file:\/\/|\/|[A-Za-z]:\\)[^\n)]+?):(\d+):(\d+)\)?$/;

/** The error for a recipe that could not be imported. */
async function importFailure(error: unknown, path: string, host: RecipeHost): Promise<RalphError> {
  if (RalphError.isInstance(error)) return error;
  const missing = notGenerated(error);
  if (missing !== null) return missing;
  const thrown = read(error);
  if (thrown.code === "ERR_UNKNOWN_FILE_EXTENSION") {
    const hint = "run it with the `ralph` binary, Bun, Deno or Node.js 22.18 and later, or write the recipe as `.mjs`";
    return recipeInvalid(path, "this version of Node.js does not run TypeScript", hint, thrown.cause);
  }
  const isOfRecipe = placeInStack(thrown.stack, path) !== null;
  const missingExport = MISSING_EXPORT_REGEXP.exec(thrown.message);
  if (missingExport !== null && !isOfRecipe) return await exportFailure(missingExport, thrown, path, host.modules);
  const missingModule = moduleFailure(thrown, path, host.modules);
  if (missingModule !== null) return missingModule;
  const place = syntaxPlace(thrown) ?? await nodeSyntaxPlace(thrown, path, host);
  if (place !== null) return await syntaxFailure(thrown, place);
  const named = urlPlace(thrown.message);
  if (named !== null && !isOfRecipe) return await syntaxFailure(thrown, named);
  // A code of the runtime's own and no line of the recipe: loading failed in a way of its own, such as an import attribute.
  if (thrown.code.startsWith("ERR_") && !isOfRecipe) {
    return recipeInvalid(path, thrown.message.split("\n")[0] as string, "fix the import", thrown.cause);
  }
  return threw(thrown, path);
}

/** The error for a recipe whose `run` threw; an error that does not come from the recipe's code stays as it is. */
function runFailure(error: unknown, path: string): unknown {
  if (RalphError.isInstance(error)) return error;
  const thrown = read(error);
  const isCommand = error instanceof Error && "exitCode" in error; // a command that the recipe started: dax gives no place
  return error instanceof Error && !isCommand && placeInStack(thrown.stack, path) === null
    ? error
    : threw(thrown, path);
}

function threw(thrown: Thrown, path: string): RalphError {
  const place = placeInStack(thrown.stack, path);
  const text = thrown.name === "" ? thrown.message : `${thrown.name}: ${thrown.message}`;
  return new RalphError("recipe-failed", {
    details: { path, problem: place === null ? text : `${text}\n    at ${show(place)}` },
    hint: "fix the recipe, then run the same command again",
    cause: thrown.cause,
  });
}

async function exportFailure(match: RegExpExecArray, thrown: Thrown, path: string, modules: OwnModules) {
  const name = match[1] as string;
  const module = match[2] ?? REQUESTED_MODULE_REGEXP.exec(thrown.message)?.[1] ?? "a module";
  const place = urlPlace(thrown.message) ?? await findImportedName(path, name);
  const hint = await exportHint(module, name, modules);
  const problem = `${module} has no export named ${name}`;
  return recipeInvalid(place === null ? path : show(place), problem, hint, thrown.cause);
}

/** A name that another module of Ralph exports, or one that is spelled like it. */
async function exportHint(module: string, name: string, modules: OwnModules): Promise<string> {
  const names = await ownExports(modules, module);
  if (names === null) return "fix the import";
  const home = await ownModuleOf(modules, name);
  if (home !== null) return `\`import { ${name} } from "${home}"\``;
  const near = nearest(name, names);
  return near === null ? "docs/guides/recipes.md and the README name the steps" : `did you mean \`${near}\`?`;
}

function moduleFailure(thrown: Thrown, path: string, modules: OwnModules): RalphError | null {
  const text = thrown.message;
  const imported = MISSING_IMPORTED_REGEXP.exec(text);
  const name = imported?.[2] ?? MISSING_DEPENDENCY_REGEXP.exec(text)?.[1] ?? MISSING_FILE_REGEXP.exec(text)?.[1];
  if (name === undefined) return null;
  const place = urlPlace(text);
  const isFile = /^(?:[./]|file:|[A-Za-z]:\\)/.test(name);
  const importer = place === null ? localPath(imported?.[3] ?? path) : show(place);
  if (isFile) {
    return recipeInvalid(importer, `cannot find ${localPath(name)}`, "fix the path of the import", thrown.cause);
  }
  const known = importableModules(modules).join(", ");
  const hint = `install it beside the recipe; without installing there are ${known}`;
  return recipeInvalid(importer, `cannot find the package ${name}`, hint, thrown.cause);
}

async function syntaxFailure(thrown: Thrown, place: Place): Promise<RalphError> {
  const message = (thrown.message.split("\n")[0] as string).replace(/^SyntaxError: /, "");
  const line = (await readText(place.file))?.split(/\r?\n/)[place.line - 1];
  const shown = line === undefined ? "" : `\n\n${excerpt(line, place)}`;
  const kind = thrown.name === "TypeError" && !thrown.message.startsWith("SyntaxError:") ? "" : "syntax error: ";
  return recipeInvalid(show(place), `${kind}${message}${shown}`, "fix the line", thrown.cause);
}

function excerpt(line: string, { line: number, column }: Place): string {
  const margin = `  ${number} | `;
  const before = line.slice(0, column - 1).replaceAll(/[^\t]/g, " ");
  return `${margin}${line}\n${" ".repeat(margin.length - 2)}| ${before}^`;
}

/** The place at which a module did not parse, or `null` for an error that its code threw. */
function syntaxPlace(thrown: Thrown): Place | null {
  if (thrown.position !== null) return thrown.position;
  const arrow = arrowPlace(thrown.stack);
  if (arrow !== null) return arrow;
  return thrown.message.startsWith("SyntaxError:") ? urlPlace(thrown.message) : null;
}

/** Node keeps the place of a syntax error to itself, unless it is asked to check the file. */
async function nodeSyntaxPlace(thrown: Thrown, path: string, host: RecipeHost): Promise<Place | null> {
  const { Bun, Deno } = globalThis as { readonly Bun?: unknown; readonly Deno?: unknown };
  if (Bun !== undefined || Deno !== undefined) return null;
  if (thrown.name !== "SyntaxError" || placeInStack(thrown.stack, path) !== null) return null;
  for (const file of await localFiles(path)) {
    const { stderr } = await host.processes.run({
      file: host.environment.executable,
      arguments: ["--check", file],
      cwd: dirname(path),
    });
    const arrow = arrowPlace(stderr);
    if (arrow !== null) return arrow;
  }
  return null;
}

/** The innermost place in the recipe's folder that the stack names. */
function placeInStack(stack: string, path: string): Place | null {
  const folder = dirname(path) + sep;
  const places = stack.split("\n").map((line) => FRAME_REGEXP.exec(line.trimEnd()))
    .filter((match) => match !== null)
    .map((match) => place(match[1], match[2], match[3]))
    .filter(({ file }) => file.startsWith(folder) && !file.includes(`${sep}node_modules${sep}`));
  return places[0] ?? null;
}

function arrowPlace(text: string): Place | null {
  const match = NODE_ARROW_REGEXP.exec(text);
  return match === null ? null : place(match[1], match[2], String((match[3] ?? "").length + 1));
}

function urlPlace(text: string): Place | null {
  const match = URL_PLACE_REGEXP.exec(text);
  return match === null ? null : place(match[1], match[2], match[3]);
}

function place(file = "", line = "1", column = "1"): Place {
  return { file: localPath(file), line: Number(line), column: Number(column) };
}

function localPath(file: string): string {
  return file.startsWith("file://") ? fileURLToPath(file) : file;
}

function show({ file, line, column }: Place): string {
  return `${file}:${line}:${column}`;
}

/** Bun gathers several problems of one file into one error: the first is reported. */
function read(error: unknown): Thrown {
  if (typeof error !== "object" || error === null) {
    return { name: "", message: String(error), stack: "", code: "", position: null, cause: error };
  }
  const { errors } = error as { readonly errors?: unknown };
  const first = Array.isArray(errors) && errors[0]?.position ? errors[0] : error;
  const { name, message, stack, code, position } = first as Partial<Thrown>;
  const text = unstyledText(String(message ?? ""));
  return {
    name: String(name ?? ""),
    message: text,
    // Without the message, which names places of its own: what is left are frames.
    stack: unstyledText(String(stack ?? "")).replace(text, () => ""),
    code: String(code ?? ""),
    position: position?.file && position.line ? position : null,
    cause: error,
  };
}
