import { join } from "node:path";
import { pathExists, writeAtomic } from "../../host/files.ts";

const FOLDER = "ralph/specs";

/** Makes the folder of specs where it is missing. @returns the paths that were made, relative to the root */
export async function scaffoldSpec(root: string): Promise<readonly string[]> {
  if (await pathExists(join(root, FOLDER))) return [];
  const path = `${FOLDER}/.gitkeep`; // git keeps no empty folder
  await writeAtomic(join(root, path), "");
  return [path];
}
