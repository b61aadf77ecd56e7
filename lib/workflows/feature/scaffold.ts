import { join } from "node:path";
import { pathExists, writeAtomic } from "../../host/files.ts";
import { FEATURES_FOLDER } from "./directories.ts";

/** Git need not see these files of the features' folder. */
const IGNORED = "ralph.lock\nprd.json.lock\n*.tmp\nscreenshots/\nruns/\n";

/** Makes `.ralph/.gitignore` where it is missing. @returns the paths that were made, relative to the root */
export async function scaffoldFeature(root: string): Promise<readonly string[]> {
  const path = `${FEATURES_FOLDER}/.gitignore`;
  if (await pathExists(join(root, path))) return [];
  await writeAtomic(join(root, path), IGNORED);
  return [path];
}
