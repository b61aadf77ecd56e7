import { join } from "node:path";
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

/**
 * Takes a link away that leads out of `root` in the place of a file of Ralph's own, as a turn may leave one: Ralph could
 * not write it. Its target stays, and so does a link to somewhere inside.
 *
 * @param path relative to the root
 */
export async function removeLinkOut(root: string, path: string): Promise<void> {
  const file = join(root, path);
  if (factsOf(file)?.kind !== "link") return;
  const isInside = await resolveInside(root, path).then(() => true, () => false);
  if (!isInside) await removePath(file);
}
