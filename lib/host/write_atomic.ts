import { mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { unwritable } from "./file_errors.ts";
import { linkTarget } from "./resolve_inside.ts";
import { isTemporaryName, temporaryName, temporaryOwner } from "./temporary_name.ts";

/** How a file is written. */
export interface WriteOptions {
  /** Permission bits of a file that is new, such as `0o600`. @default 0o666 less the umask */
  readonly mode?: number;
}

const sweptFolders = new Set<string>();

/**
 * Writes a whole file so that a reader, or a crash at any instant, finds the old text or the new one, never a piece:
 * a temporary file in the same folder, synced to the disk, renamed over the target. Missing folders are made, the mode of an
 * old file is kept, a symbolic link stays one and its file is written. A file without any write permission is refused.
 *
 * @throws {RalphError} file-unwritable
 */
export async function writeAtomic(
  path: string,
  content: string | Uint8Array,
  options: WriteOptions = {},
): Promise<void> {
  try {
    const target = await followLinks(path);
    const folder = dirname(target);
    const old = await modeOf(target);
    const temporary = join(folder, temporaryName(basename(target)));
    try {
      await writeTemporary(temporary, content, old ?? options.mode);
      await rename(temporary, target);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
    await removeLeftOvers(folder);
  } catch (error) {
    throw unwritable(path, error);
  }
}

async function writeTemporary(path: string, content: string | Uint8Array, mode: number | undefined): Promise<void> {
  const file = await openMakingFolder(path, mode);
  try {
    await file.writeFile(content);
    if (mode !== undefined && process.platform !== "win32") await file.chmod(mode);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function openMakingFolder(path: string, mode: number | undefined): ReturnType<typeof open> {
  try {
    return await open(path, "wx", mode);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  await mkdir(dirname(path), { recursive: true });
  return await open(path, "wx", mode);
}

async function modeOf(path: string): Promise<number | undefined> {
  try {
    const found = await stat(path);
    if (found.isDirectory()) throw Object.assign(new Error("EISDIR: is a directory"), { code: "EISDIR" });
    if (process.platform !== "win32" && (found.mode & 0o222) === 0) {
      throw Object.assign(new Error("EACCES: the file is read-only"), { code: "EACCES" });
    }
    return found.mode & 0o7777;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

async function followLinks(path: string, left = 40): Promise<string> {
  const target = await linkTarget(path);
  if (target === null) return path;
  if (left === 0) throw Object.assign(new Error("ELOOP: too many symbolic links"), { code: "ELOOP" });
  return followLinks(target, left - 1);
}

/** Once a folder and process: what a killed writer left behind. */
export async function removeLeftOvers(folder: string): Promise<void> {
  if (sweptFolders.has(folder)) return;
  sweptFolders.add(folder);
  for (const name of await readdir(folder)) {
    if (isTemporaryName(name) && !isRunning(temporaryOwner(name))) await rm(join(folder, name), { force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
