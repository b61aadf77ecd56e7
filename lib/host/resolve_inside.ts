import { readlinkSync, realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { RalphError } from "../errors/ralph_error.ts";
import { unreadable } from "./file_errors.ts";
import { codeOf, ifThere } from "./looks.ts";

/**
 * The absolute path of something that is, or will be, inside `root`. Symbolic links of every existing folder are followed.
 *
 * @throws {RalphError} path-outside-root; file-unreadable for a link that leads back to itself
 */
export async function resolveInside(root: string, path: string): Promise<string> {
  const realRoot = realpathSync.native(root);
  const found = await deepestPath(resolve(realRoot, path)).catch((error: unknown) => {
    throw unreadable(path, error);
  });
  const inside = relative(realRoot, found);
  if (inside === ".." || inside.startsWith(`..${sep}`) || isAbsolute(inside)) {
    throw new RalphError("path-outside-root", { details: { path, root } });
  }
  return found;
}

/** A path with every symbolic link in it followed, as far as it is there. */
export async function deepestPath(path: string, left = 64): Promise<string> {
  const found = ifThere(() => realpathSync.native(path), null);
  if (found !== null) return found;
  const link = await linkTarget(path);
  if (link !== null && left > 0) return deepestPath(link, left - 1);
  const parent = dirname(path);
  return parent === path ? path : join(await deepestPath(parent, left), basename(path));
}

/** The target of a symbolic link, also of one that leads nowhere; `null` for anything else. */
export async function linkTarget(path: string): Promise<string | null> {
  try {
    return resolve(dirname(path), readlinkSync(path));
  } catch (error) {
    const code = codeOf(error);
    if (code === "EINVAL" || code === "ENOENT" || code === "ENOTDIR" || code === "UNKNOWN") return null;
    throw error;
  }
}
