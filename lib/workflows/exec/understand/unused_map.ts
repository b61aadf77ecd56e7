import { join } from "node:path";
import { readText } from "../../../host/files.ts";
import { CODEBASE_MAP_FILE } from "../paths.ts";
import { MAP_TEMPLATE } from "../scaffold.ts";

/** The codebase map, if it is as Ralph made it. */
export async function unusedMap(root: string): Promise<readonly string[]> {
  return await readText(join(root, CODEBASE_MAP_FILE)) === MAP_TEMPLATE ? [CODEBASE_MAP_FILE] : [];
}
