import { join } from "node:path";
import { ensureDirectory, isDirectory, pathExists, readText, writePlain } from "../host/files.ts";

const HEAD_REGEXP = /^(?:ref: refs\/\S+|[0-9a-f]{40,64})\s*$/;

/**
 * Makes a git directory one that git reads again: HEAD names what it named, and `refs` is there.
 *
 * @returns false where it is gone: there is nothing to fix
 */
export async function mendGitDirectory(
  gitDirectory: string,
  { branch, head }: { readonly branch: string | null; readonly head: string | null },
): Promise<boolean> {
  const isLinked = await pathExists(join(gitDirectory, "commondir"));
  if (!isLinked && !await isDirectory(join(gitDirectory, "objects"))) return false;
  const named = branch === null ? head : `ref: refs/heads/${branch}`;
  const text = await readText(join(gitDirectory, "HEAD")) ?? "";
  if (named !== null && !HEAD_REGEXP.test(text)) await writePlain(join(gitDirectory, "HEAD"), `${named}\n`);
  if (!isLinked) await ensureDirectory(join(gitDirectory, "refs"));
  return true;
}
