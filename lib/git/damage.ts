import { dirname, join } from "node:path";
import { copyPath, LARGEST_LOG, readBytes, removePath, renamePath, writeAtomic } from "../host/files.ts";
import { looseObjectsSince } from "./persist.ts";
import { type Git, outputOfGit, readHead } from "./run_git.ts";
import type { GitFolders, Repository } from "./repository.ts";
import { realPath } from "../host/file_state.ts";
import { createHasher, hashFile } from "../host/hash.ts";
import { inflated } from "../host/zlib.ts";

/**
 * Repairs what a power cut did to that which an agent's git had just written, since git itself leaves objects and refs
 * to the system. A torn object is set aside, and the index made anew: git would take both for what it is about to write. A branch that names
 * a commit which is not whole is moved back to `head`; the files of the working tree stay as they are.
 *
 * @returns how many torn objects are set aside; the branch that is back at the commit before the turn, `null` where HEAD
 * was whole; the path that keeps the torn index, `null` where it was left as it is
 */
export async function repairDamage(
  git: Git,
  folders: GitFolders,
  { since, head }: { readonly since: number; readonly head: string | null },
): ReturnType<Repository["repairDamage"]> {
  const objects = await setAsideTorn(folders, since);
  const branch = await moveBack(git, folders, head);
  // for git a file is as its index says, also where the object that it names is not there
  const index = objects > 0 ? await replaceIndex(git, folders) : null;
  return { objects, branch, index };
}

/** @returns the branch that was moved; `null` where all that was committed since `head` can be read, or nothing else can */
async function moveBack(git: Git, folders: GitFolders, head: string | null): Promise<string | null> {
  const range = head === null ? ["HEAD"] : ["HEAD", `^${head}`];
  const isWhole = (await git(["rev-list", "--objects", "--quiet", ...range, "--"])).exitCode === 0;
  const { ref } = await readHead(folders);
  if (isWhole || head === null || ref === null) return null;
  if ((await git(["cat-file", "-e", `${head}^{tree}`])).exitCode !== 0) return null;
  await writeAtomic(join(folders.commonDirectory, ref), `${head}\n`);
  return ref.replace(/^refs\/heads\//, "");
}

async function setAsideTorn(folders: GitFolders, since: number): Promise<number> {
  let count = 0;
  for (const path of await looseObjectsSince(folders, since)) {
    const bytes = await readBytes(path, LARGEST_LOG);
    const name = path.slice(dirname(dirname(path)).length).replaceAll(/[/\\]/g, "");
    if (bytes === null || !/^[0-9a-f]{40,64}$/.test(name) || isObject(bytes, name)) continue;
    await renamePath(path, join(folders.ralphDirectory, "torn", name));
    count += 1;
  }
  return count;
}

/** Its name is the hash of its content. */
function isObject(bytes: Uint8Array, name: string): boolean {
  try {
    return createHasher(name.length === 40 ? "sha1" : "sha256").update(inflated(bytes)).digest("hex") === name;
  } catch {
    return false;
  }
}

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
  return bytes === null || isWholeIndex(bytes) ? null : await replaceIndex(git, folders);
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
function isWholeIndex(bytes: Uint8Array): boolean {
  return TRAILERS.some(([algorithm, length]) => {
    if (bytes.length <= length) return false;
    const trailer = bytes.subarray(bytes.length - length);
    if (trailer.every((byte) => byte === 0)) return true;
    return createHasher(algorithm).update(bytes.subarray(0, bytes.length - length)).digest("hex") ===
      Buffer.from(trailer).toString("hex");
  });
}
