import { resolve } from "node:path";
import { isDirectory, readText, removePath, renamePath } from "../host/files.ts";
import { factsOf, readLink } from "../host/path_facts.ts";

const FILE_REGEXP = /^gitdir: (.+)\s*$/;

/**
 * Brings a git directory back that was moved away and left a file or a link behind (`git init --separate-git-dir`).
 *
 * @returns whether it had been moved
 * @throws {RalphError} file-unwritable
 */
export async function bringBack(gitDirectory: string, topLevel: string): Promise<boolean> {
  const facts = factsOf(gitDirectory);
  if (facts === null || facts.kind === "other") return false;
  const target = facts.kind === "link"
    ? readLink(gitDirectory)
    : FILE_REGEXP.exec(await readText(gitDirectory) ?? "")?.[1];
  const moved = target === undefined ? null : resolve(topLevel, target);
  if (moved === null || !await isDirectory(moved)) return false;
  await removePath(gitDirectory);
  await renamePath(moved, gitDirectory);
  return true;
}
