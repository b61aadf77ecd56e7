import { pathExists, resolveInside, writeAtomic } from "../../host/files.ts";
import { scaffoldTexts } from "./scaffold_texts.ts";

/**
 * Makes the files of the exec workflow that are missing. What is there stays as it is.
 *
 * @param root absolute path
 * @returns the paths that were made, relative to the root
 * @throws {RalphError} file-unwritable, path-outside-root
 */
export async function scaffoldExec(root: string): Promise<readonly string[]> {
  const made: string[] = [];
  for (const [path, text] of scaffoldTexts()) {
    const file = await resolveInside(root, path);
    if (await pathExists(file)) continue;
    await writeAtomic(file, text);
    made.push(path);
  }
  return made;
}
