import picomatch from "picomatch";

/** Paths that none of the globs allows. Pure. */
export function pathsOutside(paths: readonly string[], allow: readonly string[]): readonly string[] {
  const allowed = picomatch([...allow], { dot: true });
  return paths.filter((path) => !allowed(path));
}
