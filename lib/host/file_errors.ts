import { words } from "./data.ts";
import { statfsSync } from "node:fs";
import { RalphError } from "../errors/ralph_error.ts";
import { orElse } from "./looks.ts";

const HINTS: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full: make room, then run the same command again",
  EDQUOT: "the disk quota is used up: make room, then run the same command again",
  EROFS: "the file system is mounted read-only: work in a folder that can be written",
  EACCES: "you may not write there: check owner and mode of the file and its folder",
  EPERM: "you may not write there: check owner and mode of the file and its folder",
  EISDIR: "a folder is where the file should be: move it away",
  ENOTDIR: "a file is where a folder should be: move it away",
  ENOTEMPTY: "a folder that is not empty is there: move it away",
  ELOOP: "the symbolic link leads back to itself: fix or remove it",
  ENAMETOOLONG: "choose a shorter name",
  ENOENT: "something took the file or its folder away meanwhile: run the same command again",
};

/** An error of `node:fs` as the coded error that names the file and what to do. @param way @default by the error's code */
export function unwritable(path: string, cause: unknown, way?: string): RalphError {
  if (RalphError.isInstance(cause)) return cause;
  const { code = "", message } = cause as NodeJS.ErrnoException;
  const hint = way ?? HINTS[code] ?? "check the disk and the file's folder, then run the same command again";
  return new RalphError("file-unwritable", { details: { path, reason: reasonOf(code, message), hint }, cause });
}

/** Acts on a file. @throws {RalphError} file-unwritable */
export function orUnwritable<Value>(path: string, act: () => Value): Value {
  try {
    return act();
  } catch (error) {
    throw unwritable(path, error);
  }
}

/** Looks at a file. @throws {RalphError} file-unreadable */
export function orUnreadable<Value>(path: string, look: () => Value): Value {
  try {
    return look();
  } catch (error) {
    throw unreadable(path, error);
  }
}

/** Ends a write of a promise that failed. @throws {RalphError} file-unwritable */
export function failedAt(path: string): (error: unknown) => never {
  return (error) => {
    throw unwritable(path, error);
  };
}

const READING_HINTS: Readonly<Record<string, string>> = {
  ...HINTS,
  EACCES: "you may not read it: check owner and mode of the file and its folder",
  EPERM: "you may not read it: check owner and mode of the file and its folder",
  EFTYPE: "move it away, or put a regular file there",
  EFBIG: "make it smaller, or move it away",
};

/** Why a device, a pipe or a folder is not read. */
export function notRegular(found: { isDirectory(): boolean; isFIFO(): boolean }): Error {
  const [code, what] = found.isDirectory()
    ? ["EISDIR", "it is a folder"]
    : ["EFTYPE", found.isFIFO() ? "it is a pipe, not a regular file" : "it is a device, not a regular file"];
  return Object.assign(new Error(what), { code });
}

/** Why a large file is not read. */
export function tooLarge(size: number, largest: number): Error {
  const inMegabytes = (bytes: number): string => `${Math.ceil(bytes / 1024 / 1024)} MB`;
  return Object.assign(new Error(`it has ${inMegabytes(size)}, more than ${inMegabytes(largest)}`), { code: "EFBIG" });
}

/** The same for a file that is there and cannot be read. */
export function unreadable(path: string, cause: unknown): RalphError {
  const { code = "", message } = cause as NodeJS.ErrnoException;
  const hint = READING_HINTS[code] ?? "check the disk and the file, then run the same command again";
  return new RalphError("file-unreadable", { details: { path, reason: reasonOf(code, message), hint }, cause });
}

/** The machine refuses these, whichever file it is: no one who reads or writes can mean it. */
const OF_THE_MACHINE: ReadonlySet<string> = new Set(words(`
  EDQUOT EIO EMFILE ENFILE ENODEV ENOSPC ENXIO EROFS ESTALE
`));
const READING: ReadonlySet<string> = new Set(["lstat", "open", "read", "readlink", "realpath", "scandir", "stat"]);
const FULL: ReadonlySet<string> = new Set(["EDQUOT", "ENOSPC", "EROFS"]);

/** An error of the file system that nobody has named, where it is the machine's: no bug of Ralph's. `null` for others. */
export function machineError(error: unknown): RalphError | null {
  if (!(error instanceof Error)) return null;
  const { code = "", path, syscall = "" } = error as NodeJS.ErrnoException;
  if (!OF_THE_MACHINE.has(code)) return null;
  if (path === undefined) return FULL.has(code) ? unwritable("an open file", error) : null;
  return READING.has(syscall) && !FULL.has(code) ? unreadable(path, error) : unwritable(path, error);
}

/** Less is no room to work in: git, for one, says nothing of the disk where a file was cut short. */
const LEAST_FREE = 1024 * 1024;

/** An error that names the fault below a folder: a full disk first, whatever came of it. */
export function faultBelow(folder: string, error: unknown): RalphError {
  const disk = orElse(() => statfsSync(folder), null); // where the folder is gone the error says what is wrong
  return disk !== null && disk.bavail * disk.bsize < LEAST_FREE
    ? unwritable(folder, Object.assign(new Error("no space is left on the disk", { cause: error }), { code: "ENOSPC" }))
    : asNamed(error);
}

/** Any error as one with a code: the first of several, since the others came of cleaning up after it. */
export function asNamed(error: unknown): RalphError {
  if (RalphError.isInstance(error)) return error;
  if (error instanceof Error && "suppressed" in error) return asNamed(error.suppressed);
  const problem = error instanceof Error ? error.message : String(error);
  return machineError(error) ?? new RalphError("internal", { details: { problem }, cause: error });
}

function reasonOf(code: string, message: string): string {
  return message.replace(/^(\w+: .*?), .*$/s, "$1") || code;
}
