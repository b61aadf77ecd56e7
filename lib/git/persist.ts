import { dirname, join } from "node:path";
import { syncFiles } from "../host/durable.ts";
import { namesSince } from "../host/durable.ts";
import { readHead } from "./run_git.ts";
import type { GitFolders } from "./locks.ts";

const LOOSE_FOLDER_REGEXP = /^[0-9a-f]{2}$/;

/**
 * Waits until what another git wrote since `since` is on the disk: loose objects and the branch. By default git leaves
 * both to the system, and an object that is there already is not written again by the commit that needs it.
 */
export async function persistObjects(folders: GitFolders, since: number): Promise<void> {
  const { gitDirectory, commonDirectory } = folders;
  const recent = await looseObjectsSince(folders, since);
  await syncFiles([...recent, ...recent.map((path) => dirname(path))]);
  const { ref } = await readHead(gitDirectory, commonDirectory);
  if (ref !== null) await syncFiles([join(commonDirectory, ref)]);
  await persistBranch({ gitDirectory, commonDirectory });
}

/** Absolute paths of the loose objects that were written at `since` (milliseconds since 1970) or later. */
export async function looseObjectsSince({ commonDirectory }: GitFolders, since: number): Promise<readonly string[]> {
  const objects = join(commonDirectory, "objects");
  const folders = namesSince(objects, since, (name) => LOOSE_FOLDER_REGEXP.test(name));
  return folders.flatMap((folder) => namesSince(folder, since));
}

/** Waits until files, and their names in their folders, are on the disk. */
export async function persistFiles(paths: readonly string[]): Promise<void> {
  await syncFiles([...paths, ...paths.map((path) => dirname(path))]);
}

/** Waits until the renames by which git moved the branch and wrote its index are on the disk, and the index with them. */
export async function persistBranch(
  { gitDirectory, commonDirectory }: Pick<GitFolders, "gitDirectory" | "commonDirectory">,
): Promise<void> {
  const { ref } = await readHead(gitDirectory, commonDirectory);
  const folder = ref === null ? [] : [dirname(join(commonDirectory, ref))];
  await syncFiles([join(gitDirectory, "index"), gitDirectory, ...folder]);
}
