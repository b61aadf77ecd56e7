import picomatch from "picomatch";

/** The file that no turn may change, whatever the configuration says. */
export const ALWAYS_PROTECTED: readonly string[] = ["ralph.config.json"];

/** Paths that none of the globs allows. Pure. */
export function pathsOutside(paths: readonly string[], allow: readonly string[]): readonly string[] {
  const allowed = picomatch([...allow], { dot: true });
  return paths.filter((path) => !allowed(path));
}

/** Paths that a glob of `protect` names. Pure. */
export function protectedPaths(paths: readonly string[], protect: readonly string[]): readonly string[] {
  const guarded = picomatch([...ALWAYS_PROTECTED, ...protect], { dot: true });
  return paths.filter((path) => guarded(path));
}
