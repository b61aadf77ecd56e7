import { join } from "node:path";
import { pathExists } from "../host/path_facts.ts";

/** The paths, relative to the root, that are there. */
export async function presentPaths(root: string, paths: readonly string[]): Promise<readonly string[]> {
  const present = await Promise.all(paths.map((path) => pathExists(join(root, path))));
  return paths.filter((_path, index) => present[index]);
}
