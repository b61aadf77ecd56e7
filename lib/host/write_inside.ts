import { factsOf, pathExists } from "./path_facts.ts";
import { removePath } from "./remove_path.ts";
import { resolveInside } from "./resolve_inside.ts";
import { writeAtomic } from "./write_atomic.ts";

/**
 * Writes a file below `root` under a name of Ralph's own, as `writeAtomic` does: a link that was committed under that
 * name leads nowhere else.
 *
 * @param path relative to the root
 * @throws {RalphError} path-outside-root, file-unwritable
 */
export async function writeInside(root: string, path: string, content: string): Promise<void> {
  await writeAtomic(await resolveInside(root, path), content);
}

/** The same unless something is there. @returns whether the file was made */
export async function makeInside(root: string, path: string, content: string): Promise<boolean> {
  const file = await resolveInside(root, path);
  if (await pathExists(file)) return false;
  await writeAtomic(file, content);
  return true;
}

/** Takes a link away that a turn left in the place of a file of Ralph's own; what it leads to stays. */
export async function removeLink(path: string): Promise<void> {
  if (factsOf(path)?.kind === "link") await removePath(path);
}
