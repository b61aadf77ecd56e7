import { basename, join, relative, resolve, sep } from "node:path";
import { requireRepository, type RootedRepository } from "./require_repository.ts";

/** Paths relative to the root as git names them: relative to the top level, with `/`. */
export function topLevelPaths(
  ralph: RootedRepository,
  paths: readonly string[],
): readonly string[] {
  const { topLevel } = requireRepository(ralph);
  return paths.map((path) => relative(topLevel, join(ralph.root, path)).replaceAll(sep, "/"));
}

/** Paths as git names them, relative to the root. */
export function rootPaths(
  ralph: RootedRepository,
  paths: readonly string[],
): readonly string[] {
  const { topLevel } = requireRepository(ralph);
  return paths.map((path) => relative(ralph.root, join(topLevel, path)).replaceAll(sep, "/"));
}

/** Absolute path of the folder that the trees of workers are in. */
export function treesDirectory(
  { config, ...place }: RootedRepository & {
    readonly config: { readonly parallel: { readonly directory: string } };
  },
): string {
  const { topLevel } = requireRepository(place);
  return resolve(topLevel, config.parallel.directory.replaceAll("{repository}", basename(topLevel)));
}
