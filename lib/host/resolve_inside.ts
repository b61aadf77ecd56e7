import { readlinkSync, realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { RalphError } from "../errors/ralph_error.ts";
import { orUnreadable } from "./file_errors.ts";
import { ifThere, unless } from "./looks.ts";

/**
 * The absolute path of something that is, or will be, inside `root`. Symbolic links of every existing folder are followed.
 *
 * @throws {RalphError} path-outside-root; file-unreadable for a link that leads back to itself
 */
export async function resolveInside(root: string, path: string): Promise<string> {
  const realRoot = realpathSync.native(root);
  const found = orUnreadable(path, () => deepestPath(resolve(realRoot, path)));
  const inside = relative(realRoot, found);
  if (inside === ".." || inside.startsWith(`..${sep}`) || isAbsolute(inside)) {
    throw new RalphError("path-outside-root", { details: { path, root } });
  }
  return found;
}

/** A path with every symbolic link in it followed, as far as it is there. */
export function deepestPath(path: string, left = 64): string {
  const found = ifThere(() => realpathSync.native(path), null);
  if (found !== null) return found;
  const link = linkTarget(path);
  if (link !== null && left > 0) return deepestPath(link, left - 1);
  const parent = dirname(path);
  return parent === path ? path : join(deepestPath(parent, left), basename(path));
}

/** The target of a symbolic link, also of one that leads nowhere; `null` for anything else. */
export function linkTarget(path: string): string | null {
  return unless(["EINVAL", "ENOENT", "ENOTDIR", "UNKNOWN"], () => resolve(dirname(path), readlinkSync(path)), null);
}
