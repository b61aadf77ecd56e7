import { createHash } from "node:crypto";
import { join } from "node:path";
import { copyPath, LARGEST_LOG, readBytes, removePath } from "../host/files.ts";
import { realPath } from "../host/file_state.ts";
import { hashFile } from "../host/hash.ts";
import type { GitFolders } from "./locks.ts";
import { type Git, outputOfGit } from "./run_git.ts";

/** The hash at the end of an index, by its length: of a repository with SHA-1, and with SHA-256. */
const TRAILERS: readonly (readonly [algorithm: string, bytes: number])[] = [["sha1", 20], ["sha256", 32]];

/**
 * Makes an index anew from HEAD where a power cut tore it: git reads on past the tear, and fails where no one expects
 * it. Staged changes are unstaged then.
 *
 * @returns where the torn one is kept; `null` where the index was whole
 */
export async function replaceTornIndex(git: Git, folders: GitFolders): Promise<string | null> {
  const bytes = await readBytes(join(folders.gitDirectory, "index"), LARGEST_LOG);
  return bytes === null || isWhole(bytes) ? null : await replaceIndex(git, folders);
}

/** Makes the index anew from HEAD: what was staged is unstaged. @returns where the old one is kept */
export async function replaceIndex(git: Git, { gitDirectory, ralphDirectory }: GitFolders): Promise<string> {
  const path = realPath(join(gitDirectory, "index")); // a person may keep it elsewhere, behind a link
  const hash = await hashFile(path);
  const kept = join(ralphDirectory, "torn", `index-${(hash ?? "missing").slice(0, 8)}`);
  if (hash !== null) await copyPath(path, kept);
  await removePath(path);
  const head = await git(["rev-parse", "--verify", "--quiet", "HEAD"]);
  if (head.exitCode === 0) await outputOfGit(git, ["read-tree", "HEAD"]);
  return kept;
}

/** `index.skipHash` writes zeros in the hash's place: nothing can be said then. */
function isWhole(bytes: Uint8Array): boolean {
  return TRAILERS.some(([algorithm, length]) => {
    if (bytes.length <= length) return false;
    const trailer = bytes.subarray(bytes.length - length);
    if (trailer.every((byte) => byte === 0)) return true;
    return createHash(algorithm).update(bytes.subarray(0, bytes.length - length)).digest().equals(trailer);
  });
}
