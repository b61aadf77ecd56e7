import { join } from "node:path";
import { CONFIG_FILE } from "../config/load.ts";
import { pathExists, writeAtomic } from "../host/files.ts";
import { toJson } from "./show.ts";

/** Where the schema that a scaffolded configuration points to is: editors complete and check by it. */
const SCHEMA_FILE = ".ralph/config.schema.json";

/** Writes a new configuration, and its JSON Schema where that is missing. @returns the paths that were made, relative to the root */
export async function writeNewConfig(root: string, config: object): Promise<readonly string[]> {
  const made: string[] = [];
  if (!await pathExists(join(root, SCHEMA_FILE))) {
    const { configJsonSchema } = await import("./config_json_schema.ts");
    await writeAtomic(join(root, SCHEMA_FILE), `${toJson(configJsonSchema())}\n`);
    made.push(SCHEMA_FILE);
  }
  await writeAtomic(join(root, CONFIG_FILE), `${toJson({ $schema: `./${SCHEMA_FILE}`, ...config })}\n`);
  return [...made, CONFIG_FILE];
}
