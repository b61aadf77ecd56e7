import { join, relative } from "node:path";
import { CONFIG_FILE } from "../config/load.ts";
import { parseJson } from "../errors/json_syntax.ts";
import { pathExists, readText, writeAtomic } from "../host/files.ts";
import { toJson } from "./show.ts";

/** Where the schema that a new configuration points to is: editors complete and check by it. The folder ignores itself. */
const SCHEMA_FOLDER = ".ralph/schema";
const SCHEMA_FILE = `${SCHEMA_FOLDER}/config.json`;

/** Writes a new configuration, and its JSON Schema, which git does not see. @returns the paths that were made, relative to the root */
export async function writeNewConfig(root: string, config: object): Promise<readonly string[]> {
  if (!await pathExists(join(root, SCHEMA_FILE))) {
    const { configJsonSchema } = await import("../config/json_schema.ts");
    await writeAtomic(join(root, SCHEMA_FOLDER, ".gitignore"), "*\n");
    await writeAtomic(join(root, SCHEMA_FILE), `${toJson(configJsonSchema())}\n`);
  }
  await writeAtomic(join(root, CONFIG_FILE), `${toJson({ $schema: `./${SCHEMA_FILE}`, ...config })}\n`);
  return [CONFIG_FILE];
}

/**
 * Adds commands to `verify.default`; a configuration that is missing is made. All else in the file stays.
 *
 * @param file absolute path of the configuration; `null` where there is none
 * @returns the paths that were made or changed, relative to the root
 */
export async function addDefaultChecks(
  root: string,
  file: string | null,
  commands: readonly string[],
): Promise<readonly string[]> {
  if (commands.length === 0) return [];
  const text = file === null ? null : await readText(file);
  if (file === null || text === null) return await writeNewConfig(root, { verify: { default: commands } });
  const path = relative(root, file);
  const data = parseJson(text, path) as { readonly verify?: { readonly default?: readonly string[] } };
  const verify = { ...data.verify, default: [...new Set([...data.verify?.default ?? [], ...commands])] };
  const indent = /^\s*\{\r?\n([ \t]+)/.exec(text)?.[1] ?? "  ";
  await writeAtomic(file, `${JSON.stringify({ ...data, verify }, null, indent)}\n`);
  return [path];
}
