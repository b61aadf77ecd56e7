import { dirname, join } from "node:path";
import { areOnDeviceOf, namesSince, syncFiles } from "../host/durable.ts";
import { factsOf } from "../host/path_facts.ts";
import type { Host } from "../host/types.ts";
import { readHead } from "./run_git.ts";
import type { GitFolders } from "./repository.ts";

const LOOSE_FOLDER_REGEXP = /^[0-9a-f]{2}$/;

/** More files than that are on the disk sooner by one call for their whole file system, where there is one. */
const MOST_BY_NAME = 500;
const TIMEOUT_MS = 600_000;

/**
 * Waits until what another git wrote since `since` is on the disk: loose objects and the branch. By default git leaves
 * both to the system, and an object that is there already is not written again by the commit that needs it.
 */
export async function persistObjects(host: Host, folders: GitFolders, since: number): Promise<void> {
  await persistFiles(host, folders.commonDirectory, await looseObjectsSince(folders, since));
  await persistBranch(folders);
}

/** Absolute paths of the loose objects that were written at `since` (milliseconds since 1970) or later. */
export async function looseObjectsSince({ commonDirectory }: GitFolders, since: number): Promise<readonly string[]> {
  const objects = join(commonDirectory, "objects");
  const folders = namesSince(objects, since, (name) => LOOSE_FOLDER_REGEXP.test(name));
  return folders.flatMap((folder) => namesSince(folder, since));
}

/** Waits until files below a folder, and their names in their folders, are on the disk. */
export async function persistFiles(host: Host, folder: string, paths: readonly string[]): Promise<void> {
  const folders = new Set(paths.map((path) => dirname(path)));
  if (paths.length > MOST_BY_NAME && areOnDeviceOf(folder, folders) && await syncDevice(host, folder)) return;
  await syncFiles([...paths, ...folders]);
}

/** `syncfs` of Linux, by its program: a runtime has no such call. @returns whether it worked */
async function syncDevice(host: Host, folder: string): Promise<boolean> {
  if (host.environment.platform !== "linux") return false;
  const request = { file: "sync", arguments: ["-f", folder], cwd: folder, guarded: false, timeoutMs: TIMEOUT_MS };
  return (await host.processes.run(request)).exitCode === 0;
}

/** By git directory: HEAD, index and branch as they were when they were last put on the disk. */
const onDisk = new Map<string, string>();

/**
 * Waits until the renames by which git moved the branch and wrote its index are on the disk, and both with them; not
 * again where neither was written since.
 */
export async function persistBranch(folders: GitFolders): Promise<void> {
  const { gitDirectory, commonDirectory } = folders;
  const { ref } = await readHead(folders);
  const branch = ref === null ? [] : [join(commonDirectory, ref)];
  const files = [join(gitDirectory, "index"), ...branch];
  const facts = [join(gitDirectory, "HEAD"), ...files].map((path) => factsOf(path));
  const stamp = facts.every((one) => one?.kind === "file") ? facts.map((one) => one?.stamp).join() : null;
  if (stamp !== null && onDisk.get(gitDirectory) === stamp) return;
  await syncFiles([...files, gitDirectory, ...branch.map((path) => dirname(path))]);
  if (stamp !== null) onDisk.set(gitDirectory, stamp);
}
