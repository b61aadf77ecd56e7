import { join, relative } from "node:path";
import { CONFIG_FILE } from "../config/load.ts";
import { parseJson } from "../errors/json_syntax.ts";
import { makeInside, pathExists, readText, resolveInside, writeAtomic, writeInside } from "../host/files.ts";
import type { Host } from "../host/types.ts";
import { agreeToWritten } from "./agreed_config.ts";
import { toJson } from "./command.ts";

/**
 * The folder of the schema that a new configuration points to: editors complete and check by it. The folder ignores
 * itself.
 */
const SCHEMA_FOLDER = ".ralph/schema";
const SCHEMA_FILE = `${SCHEMA_FOLDER}/config.json`;

/**
 * Writes a new configuration, and its JSON Schema, which git does not see.
 *
 * @returns the paths that were made, relative to the root
 * @throws {RalphError} path-outside-root before anything is written, file-unwritable
 */
export async function writeNewConfig(host: Host, root: string, config: object): Promise<readonly string[]> {
  const target = await resolveInside(root, CONFIG_FILE);
  if (!await pathExists(await resolveInside(root, SCHEMA_FILE))) {
    const { configJsonSchema } = await import("../config/json_schema.ts");
    await makeInside(root, `${SCHEMA_FOLDER}/.gitignore`, "*\n");
    await writeInside(root, SCHEMA_FILE, `${toJson(configJsonSchema())}\n`);
  }
  const text = `${toJson({ $schema: `./${SCHEMA_FILE}`, ...config })}\n`;
  await agreeToWritten(host, root, join(root, CONFIG_FILE), () => writeAtomic(target, text));
  return [CONFIG_FILE];
}

/** A configuration gets these additions. */
export interface Additions {
  readonly verify: { readonly default: readonly string[] };
  readonly provider?: Readonly<Record<string, unknown>>;
  readonly sandbox?: Readonly<Record<string, unknown>>;
}

/**
 * Adds commands to `verify.default`, and keys of the agent and the sandbox that the file does not have; a configuration
 * that is missing is made. All else in the file stays.
 *
 * @param file absolute path of the configuration; `null` where there is none
 * @returns the paths that were made or changed, relative to the root
 * @throws {RalphError} path-outside-root, file-unwritable
 */
export async function addToConfig(
  host: Host,
  root: string,
  file: string | null,
  more: Additions,
): Promise<readonly string[]> {
  const text = file === null ? null : await readText(file);
  if (file === null || text === null) return await writeNewConfig(host, root, more);
  const path = relative(root, file);
  const data = parseJson(text, path) as Partial<Additions>;
  const commands = [...new Set([...data.verify?.default ?? [], ...more.verify.default])];
  const hasAgent = data.provider !== undefined && ("preset" in data.provider || "command" in data.provider);
  const agent = Object.entries(more.provider ?? {}).filter(([key]) =>
    !hasAgent || !["preset", "command"].includes(key)
  );
  const provider = { ...Object.fromEntries(agent), ...data.provider };
  const sandbox = { ...more.sandbox, ...data.sandbox };
  const isNew = (value: object): boolean => Object.keys(value).length > 0;
  const changed = {
    ...data,
    ...(isNew(provider) ? { provider } : {}),
    ...(commands.length === 0 ? {} : { verify: { ...data.verify, default: commands } }),
    ...(isNew(sandbox) ? { sandbox } : {}),
  };
  if (JSON.stringify(changed) === JSON.stringify(data)) return [];
  const indent = /^\s*\{\r?\n([ \t]+)/.exec(text)?.[1] ?? "  ";
  const target = path === CONFIG_FILE ? await resolveInside(root, path) : file; // another one was named by a person
  await agreeToWritten(host, root, file, () => writeAtomic(target, `${JSON.stringify(changed, null, indent)}\n`));
  return [path];
}
