import { join } from "node:path";
import { pathExists } from "./path_facts.ts";

/** The paths, relative to a folder, that are there. */
export async function presentPaths(folder: string, paths: readonly string[]): Promise<readonly string[]> {
  const present = await Promise.all(paths.map((path) => pathExists(join(folder, path))));
  return paths.filter((_path, index) => present[index]);
}
