import { join, relative } from "node:path";
import { requireRepository, type RootedRepository } from "./require_repository.ts";

/** Paths relative to the root as git names them: relative to the top level, with `/`. */
export function topLevelPaths(
  ralph: RootedRepository,
  paths: readonly string[],
): readonly string[] {
  const { topLevel } = requireRepository(ralph);
  return paths.map((path) => relative(topLevel, join(ralph.root, path)).replaceAll("\\", "/"));
}

/** Paths as git names them, relative to the root. */
export function rootPaths(
  ralph: RootedRepository,
  paths: readonly string[],
): readonly string[] {
  const { topLevel } = requireRepository(ralph);
  return paths.map((path) => relative(ralph.root, join(topLevel, path)).replaceAll("\\", "/"));
}
