/**
 * Which recipe files a person has agreed to run on this machine: by path and content, in the user's state folder.
 * The question itself is the command's.
 *
 * @module
 */
import { join } from "node:path";
import { RalphError } from "../errors/ralph_error.ts";
import { hashFile, readText, writeAtomic } from "../host/files.ts";
import type { Environment, Host } from "../host/types.ts";

interface TrustedRecipe {
  readonly path: string;
  readonly sha256: string;
}

/** True when this very content at this path was agreed to before. */
export async function isTrusted(host: Pick<Host, "environment">, path: string): Promise<boolean> {
  const sha256 = await hashFile(path);
  const trusted = await readTrusted(trustFile(host.environment));
  return trusted.some((recipe) => recipe.path === path && recipe.sha256 === sha256);
}

/**
 * Remembers the file as it is now. An older content of the same path is forgotten.
 *
 * @throws {RalphError} recipe-invalid when there is no such file
 */
export async function trust(host: Pick<Host, "environment">, path: string): Promise<void> {
  const sha256 = await hashFile(path);
  if (sha256 === null) {
    throw new RalphError("recipe-invalid", {
      details: { path, problem: "the file does not exist" },
      hint: "name an existing file",
    });
  }
  const file = trustFile(host.environment);
  const others = (await readTrusted(file)).filter((recipe) => recipe.path !== path);
  await writeAtomic(file, `${JSON.stringify({ version: 1, recipes: [...others, { path, sha256 }] }, null, 2)}\n`);
}

/** Absolute path of the list. */
export function trustFile(environment: Environment): string {
  return join(stateFolder(environment), "ralph", "trusted_recipes.json");
}

function stateFolder({ platform, variables, home }: Environment): string {
  if (platform === "win32") return variables["LOCALAPPDATA"] || join(home, "AppData", "Local");
  return variables["XDG_STATE_HOME"] || join(home, ".local", "state");
}

/** A damaged list trusts nothing: the person is asked again, and the list is written anew. */
async function readTrusted(file: string): Promise<readonly TrustedRecipe[]> {
  const text = await readText(file);
  if (text === null) return [];
  try {
    const { recipes } = JSON.parse(text) as { readonly recipes?: unknown };
    return Array.isArray(recipes) ? recipes.filter(isEntry) : [];
  } catch {
    return [];
  }
}

function isEntry(value: unknown): value is TrustedRecipe {
  const entry = value as Partial<TrustedRecipe> | null;
  return typeof entry?.path === "string" && typeof entry.sha256 === "string";
}
