/**
 * Every file function that the layers above use. Missing files are values; a write that cannot be made is an error.
 *
 * The small ones are done at once, on this thread: handing a read of a few kilobytes to another one costs more than the
 * read. Slow ones (syncing, streams, whole folders) are not.
 *
 * @module
 */
import * as fs from "node:fs";
import process from "node:process";
import { tmpdir } from "node:os";
import { dirname, join, sep } from "node:path";
import { copy } from "@std/fs/copy";
import { ensureDir } from "@std/fs/ensure-dir";
import { exists } from "@std/fs/exists";
import { type Appender, createAppender, openOwn } from "./appender.ts";
import { syncFolder, syncOpen } from "./durable.ts";
import { failedAt, notRegular, orUnreadable, tooLarge, unreadable, unwritable } from "./file_errors.ts";
import { isRemovedEmpty, removeOwn, removePath } from "./remove_path.ts";
import { codeOf, entryAt, ifThere, isMissing, namesIn, type OpenFile, openFile, orElse } from "./looks.ts";
import { PRIVATE_FILE, PRIVATE_FOLDER } from "./write_atomic.ts";
import { realPath } from "./file_state.ts";
import { pathExists } from "./path_facts.ts";
import type { Host } from "./types.ts";

export type { Appender } from "./appender.ts";
export { hashFile, hashText } from "./hash.ts";
export { pathExists } from "./path_facts.ts";
export { removeOwn, removePath } from "./remove_path.ts";
export { resolveInside } from "./resolve_inside.ts";
export * from "./write_atomic.ts";
export { makeInside, removeLinkOut, writeInside } from "./write_inside.ts";

/** State, configuration and documents are smaller: what is larger is not read into memory. */
export const LARGEST_TEXT: number = 16 * 1024 * 1024;

/** For logs and what a run has recorded: all that a string can hold. */
export const LARGEST_LOG: number = 400 * 1024 * 1024;

/** Read at once where a file is read piece by piece. */
const CHUNK_BYTES = 256 * 1024;

/**
 * The file's text, or `null` when there is none. Only a regular file of at most `maxBytes` (16 MB) is read.
 *
 * @throws {RalphError} file-unreadable
 */
export async function readText(path: string, maxBytes: number = LARGEST_TEXT): Promise<string | null> {
  return readRegular(path, maxBytes, (file) => fs.readFileSync(file, "utf8"));
}

/** The text of what a turn left at a path: `null` too where a folder, a pipe or a device is in the file's place. */
export async function readLeftText(path: string): Promise<string | null> {
  return (await exists(path, { isFile: true })) ? await readText(path) : null;
}

/** The same as bytes; `known` itself where the file holds the same, without new memory. @throws {RalphError} file-unreadable */
export async function readBytes(path: string, maxBytes: number = LARGEST_TEXT, known?: Buffer): Promise<Buffer | null> {
  return readRegular(
    path,
    maxBytes,
    (file) => known !== undefined && holds(file, known) ? known : fs.readFileSync(file),
  );
}

function readRegular<Content>(path: string, maxBytes: number, read: (file: number) => Content): Content | null {
  return orUnreadable(path, () => {
    using file = ifThere(() => openFile(path), null);
    if (file === null) return null;
    const size = regularSize(file);
    if (size > maxBytes) throw tooLarge(size, maxBytes);
    return read(file.descriptor);
  });
}

function regularSize({ descriptor }: OpenFile): number {
  const found = fs.fstatSync(descriptor);
  if (!found.isFile()) throw notRegular(found);
  return found.size;
}

const compared = Buffer.alloc(32 * 1024);

/** Tells whether an open file holds these bytes and no more. The position of the next read stays as it was. */
function holds(file: number, bytes: Buffer): boolean {
  for (let at = 0;;) {
    const count = fs.readSync(file, compared, 0, compared.length, at);
    if (count === 0) return at === bytes.length;
    if (!compared.subarray(0, count).equals(bytes.subarray(at, at + count))) return false;
    at += count;
  }
}

/** The first `maxBytes` of a file, or `null` when there is none that can be read. */
export async function readStart(path: string, maxBytes: number): Promise<Uint8Array | null> {
  if (!(await exists(path, { isFile: true }))) return null;
  using file = openFile(path);
  const buffer = Buffer.allocUnsafe(Math.min(maxBytes, fs.fstatSync(file.descriptor).size));
  return buffer.subarray(0, fs.readSync(file.descriptor, buffer, 0, buffer.length, 0));
}

/** The file's bytes from its start on, a piece at a time. @throws {RalphError} file-unreadable */
export async function* readChunks(path: string): AsyncGenerator<Uint8Array> {
  try {
    using file = openFile(path);
    regularSize(file);
    for (;;) {
      const buffer = Buffer.allocUnsafe(CHUNK_BYTES); // the receiver may keep a piece
      const length = fs.readSync(file.descriptor, buffer);
      if (length === 0) return;
      yield buffer.subarray(0, length);
    }
  } catch (error) {
    throw unreadable(path, error);
  }
}

/** When a file was last written, in milliseconds since 1970; `null` when it is missing. */
export async function modifiedAt(path: string): Promise<number | null> {
  return ifThere(() => fs.statSync(path).mtimeMs, null);
}

/**
 * Adds text to the end of a file in one write. File and folder are made when missing.
 *
 * @param mode permission bits of a file that is new
 * @throws {RalphError} file-unwritable
 */
export async function appendText(path: string, text: string, mode = 0o666): Promise<void> {
  await makingFolder(path, async () => fs.appendFileSync(path, text, { mode }));
}

/**
 * Adds text as `appendText` does, and waits until it is on the disk.
 *
 * @throws {RalphError} file-unwritable
 */
export async function appendDurably(path: string, text: string, mode = 0o666): Promise<void> {
  await makingFolder(path, async () => {
    const isNew = !fs.existsSync(path);
    using file = openFile(path, "a", mode);
    fs.writeFileSync(file.descriptor, text);
    await syncOpen(file.descriptor);
    if (isNew) await syncFolder(dirname(path));
  });
}

/** Writes a file in place: a crash may leave a piece of it, so only for what may be lost. @throws {RalphError} file-unwritable */
export async function writePlain(path: string, content: string | Uint8Array): Promise<void> {
  await makingFolder(path, async () => fs.writeFileSync(path, content));
}

/**
 * Opens a log to be added to, which only its owner may read. File and folder are made when missing.
 *
 * @throws {RalphError} file-unwritable
 */
export async function openAppender(path: string): Promise<Appender> {
  return createAppender(await makingFolder(path, async () => openOwn(path, PRIVATE_FILE)), path);
}

/** True for a folder, also behind a symbolic link. */
export async function isDirectory(path: string): Promise<boolean> {
  return orElse(() => fs.statSync(path).isDirectory(), false);
}

/** Makes a folder and those above it. @throws {RalphError} file-unwritable */
export async function ensureDirectory(path: string): Promise<void> {
  await ensureDir(path).catch(failedAt(path));
}

/** Makes a folder that only its owner may look into, or makes it so. @throws {RalphError} file-unwritable */
export async function ensurePrivateDirectory(path: string): Promise<void> {
  await ensureDirectory(dirname(path));
  try {
    fs.mkdirSync(path, { mode: PRIVATE_FOLDER });
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw unwritable(path, error);
    await ensureDirectory(path);
    const { mode, uid } = fs.statSync(path);
    if ((mode & 0o77) !== 0 && uid === process.getuid?.()) fs.chmodSync(path, PRIVATE_FOLDER);
  }
}

/** Takes away a folder and those above it, up to `end`, as far as they are empty. */
export async function removeEmptyFolders(folder: string, end: string): Promise<void> {
  for (let path = folder; path.startsWith(`${end}${sep}`) && isRemovedEmpty(path);) path = dirname(path);
}

/** Moves a file or folder within one file system. @throws {RalphError} file-unwritable */
export async function renamePath(from: string, to: string): Promise<void> {
  await makingFolder(to, async () => fs.renameSync(from, to));
}

/** Copies a file or a whole folder over what is there; `times`: with its times. @throws {RalphError} file-unwritable */
export async function copyPath(
  from: string,
  to: string,
  { times = false }: { readonly times?: boolean } = {},
): Promise<void> {
  await makingFolder(to, async () => {
    if (times || entryAt(from)?.isFile() !== true) {
      return await copy(from, to, { overwrite: true, preserveTimestamps: times });
    }
    fs.rmSync(to, { force: true });
    fs.copyFileSync(from, to); // the function for folders takes as long to load as a run's other copies
  });
}

/** Copies what a path leads to: a link is followed, so that a write to the copy stays in the copy. @throws {RalphError} file-unwritable */
export async function copyTarget(from: string, to: string, options: { readonly times?: boolean } = {}): Promise<void> {
  await copyPath(fs.realpathSync.native(from), to, options);
}

/** Makes a symbolic link in place of what is there. @throws {RalphError} file-unwritable */
export async function symbolicLink(target: string, path: string): Promise<void> {
  await removePath(path);
  await makingFolder(path, async () => fs.symlinkSync(target, path));
}

/** Names in a folder, sorted; none when it is missing. */
export async function listDirectory(path: string): Promise<readonly string[]> {
  return ifThere(() => fs.readdirSync(path).sort(), []);
}

/** A fresh temporary folder, taken away when disposed. Its path has no symbolic link in it. */
export async function temporaryDirectory(prefix: string): Promise<{ readonly path: string } & AsyncDisposable> {
  const parent = temporaryPlace();
  const path = inTemporaryPlace(() => fs.mkdtempSync(join(parent, prefix)));
  return { path, [Symbol.asyncDispose]: () => removeOwn(path, parent) };
}

/** The folder of temporary files, without links in its path. @throws {RalphError} file-unwritable */
export function temporaryPlace(): string {
  return inTemporaryPlace(() => fs.realpathSync.native(tmpdir()));
}

function inTemporaryPlace(use: () => string): string {
  try {
    return use();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const way = code === "ENOSPC" || code === "EDQUOT" ? undefined : "set TMPDIR to a folder that can be written";
    throw unwritable(tmpdir(), error, way);
  }
}

async function makingFolder<Value>(path: string, write: () => Promise<Value>): Promise<Value> {
  try {
    return await write();
  } catch (error) {
    if (!isMissing(error) || (await exists(dirname(path)))) throw unwritable(path, error);
  }
  await ensureDirectory(dirname(path));
  return await write().catch(failedAt(path));
}

/** The paths, relative to a folder, that are there. */
export async function presentPaths(folder: string, paths: readonly string[]): Promise<readonly string[]> {
  const present = await Promise.all(paths.map((path) => pathExists(join(folder, path))));
  return paths.filter((_path, index) => present[index]);
}

/**
 * The folder for everything that Ralph can make again: `XDG_CACHE_HOME`, else `~/.cache`, and a folder of this user's
 * among the temporary ones if the home folder cannot be written. No link leads to it.
 *
 * @throws {RalphError} file-unwritable
 */
export async function cacheFolder({ environment: { home, variables } }: Pick<Host, "environment">): Promise<string> {
  const named = variables["XDG_CACHE_HOME"];
  if (named) return realPath(named);
  const own = join(home, ".cache");
  if (isWritable(fs.existsSync(own) ? own : home)) return realPath(own);
  const path = join(temporaryPlace(), `ralph-cache-${process.getuid?.() ?? ""}`);
  await ensurePrivateDirectory(path);
  const found = fs.lstatSync(path);
  if (found.isDirectory() && found.uid === (process.getuid?.() ?? found.uid)) return path;
  throw unwritable(path, new Error("it is not yours"), "set XDG_CACHE_HOME to a folder that can be written");
}

function isWritable(folder: string): boolean {
  return orElse(() => (fs.accessSync(`${folder}/.`, fs.constants.W_OK), true), false); // a file is none
}

/** Bytes that a file, or a folder with all that is in it, takes on the disk. 0 for what is not there or cannot be read. */
export function sizeOnDisk(path: string): number {
  const found = entryAt(path);
  if (found === undefined) return 0;
  const own = found.blocks * 512;
  if (!found.isDirectory()) return own;
  return namesIn(path).reduce((sum, name) => sum + sizeOnDisk(join(path, name)), own);
}
