import * as fs from "node:fs";
import { basename, dirname, join } from "node:path";
import { syncFolder, syncOpen } from "./durable.ts";
import { unwritable } from "./file_errors.ts";
import { exchange, renameToNew } from "./lib_c.ts";
import { startOf } from "./process_table.ts";
import { linkTarget } from "./resolve_inside.ts";
import { codeOf, entryAt, entryOrNothing, ifThere, namesIn, type OpenFile, openFile } from "./looks.ts";

/** For folders that only their owner may look into. */
export const PRIVATE_FOLDER = 0o700;
/** For logs, transcripts and what is Ralph's own. */
export const PRIVATE_FILE = 0o600;

/** Process, its start where that is known, a random number. */
const TEMPORARY_REGEXP = /^\..+\.(\d+)-(?:(\d+)-)?[0-9a-f]{8}\.ralph-tmp$/;

/** No write takes as long. */
const LONGEST_WRITE_MS = 10 * 60 * 1000;

/** How a file is written. */
export interface WriteOptions {
  /** Permission bits of a file that is new, such as `0o600`. @default 0o666 less the umask */
  readonly mode?: number;
}

/** The outcome of a write that names the text that it replaces. */
export type Replaced =
  | { readonly status: "written" }
  /** The file holds something else and stays as it is. */
  | { readonly status: "differs" }
  /** Written; but another program had the old file open and has changed it: this is what it held last. */
  | { readonly status: "overtaken"; readonly found: string };

/**
 * Writes a whole file so that a reader, or a crash at any instant, finds the old text or the new one, never a piece:
 * a temporary file in the same folder, synced to the disk, renamed over the target; then the folder is synced, so that a
 * power cut afterwards finds the new text. Missing folders are made, the mode of an old file is kept, a symbolic link
 * stays one and its file is written. A file without any write permission is refused. A folder that is
 * made for a private file (`0o600`) is private too.
 *
 * @throws {RalphError} file-unwritable
 */
export async function writeAtomic(
  path: string,
  content: string | Uint8Array,
  options: WriteOptions = {},
): Promise<void> {
  await replace(path, content, options, async (temporary, target) => {
    fs.renameSync(temporary, target);
    await syncFolder(dirname(target));
  });
}

/** The same for a file that only Ralph and its owner read, whatever the umask is. @throws {RalphError} file-unwritable */
export async function writeOwn(path: string, content: string | Uint8Array): Promise<void> {
  await writeAtomic(path, content, { mode: PRIVATE_FILE });
}

/**
 * Writes as `writeAtomic` does, where the file still holds what the caller has read. If both files can change places
 * in one step, no other program comes between the look and the write; elsewhere one may in the instant between them.
 *
 * @param expected the text that is replaced; `null`: there is no file
 * @throws {RalphError} file-unwritable
 */
export async function replaceText(path: string, content: string, expected: string | null): Promise<Replaced> {
  return await replace(path, content, {}, async (temporary, target): Promise<Replaced> => {
    if (expected === null && renameToNew(temporary, target)) {
      await syncFolder(dirname(target));
      return { status: "written" };
    }
    // Windows renames nothing over an open file
    using old = expected === null || process.platform === "win32" ? null : ifThere(() => openFile(target), null);
    const replaced = textOf(target) === expected ? takePlace(temporary, target, old?.descriptor ?? null) : undefined;
    if (replaced === undefined) {
      fs.rmSync(temporary, { force: true });
      return { status: "differs" };
    }
    await syncFolder(dirname(target));
    const found = replaced === null ? expected : fs.readFileSync(replaced, "utf8"); // late: somebody may write into it
    fs.rmSync(temporary, { force: true });
    return found === null || found === expected ? { status: "written" } : { status: "overtaken", found };
  });
}

async function replace<Result>(
  path: string,
  content: string | Uint8Array,
  { mode }: WriteOptions,
  rename: (temporary: string, target: string) => Promise<Result>,
): Promise<Result> {
  try {
    const target = followLinks(path);
    const folder = dirname(target);
    const old = modeOf(target);
    const temporary = join(folder, temporaryName(basename(target)));
    let result: Result;
    try {
      await writeTemporary(temporary, content, old ?? mode);
      result = await rename(temporary, target);
    } catch (error) {
      fs.rmSync(temporary, { force: true });
      throw error;
    }
    removeLeftOvers(folder);
    return result;
  } catch (error) {
    throw unwritable(path, error);
  }
}

/**
 * Puts a new file in the place of the old one.
 *
 * @param old the old file, open: a program that has it open too may still write into it
 * @returns where to read what was replaced, if it is known; `undefined`: another program has replaced the old file, which
 *   is in its place
 */
function takePlace(temporary: string, target: string, old: number | null): number | string | null | undefined {
  const inode = fs.statSync(temporary).ino;
  if (old !== null && exchange(temporary, target)) {
    if (fs.statSync(temporary).ino === fs.fstatSync(old).ino) return old;
    exchange(temporary, target);
    return fs.statSync(temporary).ino === inode ? undefined : temporary;
  }
  if (old !== null && fs.fstatSync(old).ino !== fs.statSync(target, { throwIfNoEntry: false })?.ino) return undefined;
  fs.renameSync(temporary, target);
  return old;
}

function textOf(path: string): string | null {
  return ifThere(() => fs.readFileSync(path, "utf8"), null);
}

async function writeTemporary(path: string, content: string | Uint8Array, mode: number | undefined): Promise<void> {
  using file = openMakingFolder(path, mode);
  fs.writeFileSync(file.descriptor, content);
  if (mode !== undefined && process.platform !== "win32") fs.fchmodSync(file.descriptor, mode);
  await syncOpen(file.descriptor);
}

function openMakingFolder(path: string, mode: number | undefined): OpenFile {
  try {
    return openFile(path, "wx", mode);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
  // who may not read the file need not look into its folder
  fs.mkdirSync(dirname(path), { recursive: true, ...(mode === PRIVATE_FILE ? { mode: PRIVATE_FOLDER } : {}) });
  return openFile(path, "wx", mode);
}

function modeOf(path: string): number | undefined {
  const found = entryOrNothing(() => fs.statSync(path, { throwIfNoEntry: false }));
  if (found === undefined) return undefined;
  if (found.isDirectory()) throw Object.assign(new Error("EISDIR: is a directory"), { code: "EISDIR" });
  if (process.platform !== "win32" && (found.mode & 0o222) === 0) {
    throw Object.assign(new Error("EACCES: the file is read-only"), { code: "EACCES" });
  }
  return found.mode & 0o7777;
}

function followLinks(path: string, left = 40): string {
  const target = linkTarget(path);
  if (target === null) return path;
  if (left === 0) throw Object.assign(new Error("ELOOP: too many symbolic links"), { code: "ELOOP" });
  return followLinks(target, left - 1);
}

/** Removes the temporary files that killed writers left in a folder. */
export function removeLeftOvers(folder: string): void {
  for (const name of namesIn(folder)) {
    const [, owner, start] = TEMPORARY_REGEXP.exec(name) ?? [];
    const path = join(folder, name);
    if (owner !== undefined && isLeft(path, Number(owner), start)) fs.rmSync(path, { force: true });
  }
}

/** Its writer has ended, as a zombie too, or what has the writer's number is another process by now. */
function isLeft(path: string, owner: number, start: string | undefined): boolean {
  const access = accessTo(owner);
  if (access === "none") return true;
  if (access === "own" && start !== undefined) return startOf(owner) !== start; // those of others may be hidden
  const found = entryAt(path);
  return found !== undefined && found.mtimeMs < Date.now() - LONGEST_WRITE_MS;
}

function accessTo(pid: number): "own" | "foreign" | "none" {
  try {
    process.kill(pid, 0);
    return "own";
  } catch (error) {
    return codeOf(error) === "EPERM" ? "foreign" : "none";
  }
}

/** In the units of the table of processes; empty if that has none. */
let ownStart: string | undefined;

/**
 * The name of a temporary file beside `name`. It carries this process's pid and start, by which a leftover is recognised:
 * another process may have the pid by now.
 */
export function temporaryName(name: string): string {
  ownStart ??= startOf(process.pid) ?? "";
  const start = ownStart === "" ? "" : `${ownStart}-`;
  return `.${name.slice(0, 190)}.${process.pid}-${start}${randomHex()}.ralph-tmp`;
}

function randomHex(): string {
  return crypto.getRandomValues(new Uint32Array(1))[0]!.toString(16).padStart(8, "0");
}

/** True for a name that `temporaryName()` made, in this process or another. */
export function isTemporaryName(name: string): boolean {
  return TEMPORARY_REGEXP.test(name);
}
