/**
 * Puts on the disk whatever has to be there before something else is believed: a power cut keeps what was synced, in
 * any order the rest.
 *
 * @module
 */
import { constants, fsync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { orUnreadable, unwritable } from "./file_errors.ts";
import { codeOf, ifThere, openFile, orElse, unless } from "./looks.ts";

/** Synced at the same time: a disk puts them together in one flush. */
const AT_ONCE = 16;

/** Waits until an open file's content is on the disk. */
export async function syncOpen(file: number): Promise<void> {
  await new Promise<void>((resolve, reject) => fsync(file, (error) => error === null ? resolve() : reject(error)));
}

/**
 * Waits until the names in a folder are on the disk: of what was made, renamed or taken away there. Windows keeps them
 * by itself.
 */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform !== "win32") await syncPath(path);
}

/**
 * Waits until files are on the disk, contents and names. Paths that are missing or no files are left out.
 *
 * @throws {RalphError} file-unwritable
 */
export async function syncFiles(paths: Iterable<string>): Promise<void> {
  const waiting = new Set(paths).values();
  const work = async (): Promise<void> => {
    for (const path of waiting) await syncPath(path);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

/** Tells whether folders are on the file system of one; a missing folder counts as there. */
export function areOnDeviceOf(folder: string, others: Iterable<string>): boolean {
  const device = deviceOf(folder);
  return [...others].every((other) => [device, undefined].includes(deviceOf(other)));
}

function deviceOf(path: string): number | undefined {
  return orElse(() => statSync(path).dev, undefined);
}

/**
 * Absolute paths of what in a folder was written at `since` (milliseconds since 1970) or later; none where it is missing.
 * At once, on this thread: a promise for each of hundreds of names costs more than the look.
 *
 * @param isAsked which names are looked at. @default all
 * @throws {RalphError} file-unreadable
 */
export function namesSince(
  folder: string,
  since: number,
  isAsked: (name: string) => boolean = () => true,
): readonly string[] {
  const names = orUnreadable(folder, () => ifThere(() => readdirSync(folder), []));
  return names.toSorted().filter(isAsked).map((name) => join(folder, name)).filter((path) => {
    const found = statSync(path, { throwIfNoEntry: false });
    return found !== undefined && found.mtimeMs >= since;
  });
}

async function syncPath(path: string): Promise<void> {
  try {
    using file = unless(CANNOT_OPEN, () => openFile(path, OPEN_FLAG), null);
    if (file !== null) await syncOpen(file.descriptor);
  } catch (error) {
    if (!CANNOT_SYNC.has(codeOf(error))) throw unwritable(path, error);
  }
}

/** Windows syncs only what may be written; a pipe in a file's place is not waited for. */
const OPEN_FLAG: number = process.platform === "win32" ? constants.O_RDWR : constants.O_RDONLY | constants.O_NONBLOCK;

/** Some file systems cannot sync a folder, or a file that is open to be read: there is no more to be done for it. */
const CANNOT_SYNC: ReadonlySet<string> = new Set(["EINVAL", "ENOTSUP", "EBADF", "EPERM", "EISDIR", "ENOSYS", "EROFS"]);

const CANNOT_OPEN = ["ENOENT", "ENOTDIR", "EACCES", "EPERM", "EISDIR", "ELOOP", "ENXIO"];
