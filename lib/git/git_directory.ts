import { join, resolve } from "node:path";
import {
  ensureDirectory,
  isDirectory,
  pathExists,
  readText,
  removePath,
  renamePath,
  writePlain,
} from "../host/files.ts";
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
