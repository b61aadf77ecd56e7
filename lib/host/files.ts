/**
 * Every file function that the layers above use. Missing files are values; a write that cannot be made is an error.
 *
 * The small ones are done at once, on this thread: handing a read of a few kilobytes to another one costs more than the
 * read. What may take long (syncing, streams, whole folders) is not.
 *
 * @module
 */
import {
  appendFileSync,
  constants,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { copy } from "@std/fs/copy";
import { ensureDir } from "@std/fs/ensure-dir";
import { exists } from "@std/fs/exists";
import { unreadable, unwritable } from "./file_errors.ts";
import { fsPromises } from "./fs_promises.ts";

export { hashFile, hashText } from "./hash.ts";
export { resolveInside } from "./resolve_inside.ts";
export { writeAtomic, type WriteOptions } from "./write_atomic.ts";

/** A file that is only ever added to. */
export interface Appender {
  write(chunk: Uint8Array): Promise<void>;
  close(): Promise<void>;
}

/** A pipe in a file's place is read as empty and not waited for. */
const READ_FLAG: number = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** Read at once where a file is read piece by piece. */
const CHUNK_BYTES = 256 * 1024;

/** The file's bytes, or `null` when there is none. @throws {RalphError} file-unreadable */
export async function readBytes(path: string): Promise<Uint8Array | null> {
  try {
    return readFileSync(path);
  } catch (error) {
    if (isMissing(error)) return null;
    throw unreadable(path, error);
  }
}

/** The file's text, or `null` when there is none. @throws {RalphError} file-unreadable */
export async function readText(path: string): Promise<string | null> {
  try {
    return readFileSync(path, { flag: READ_FLAG as unknown as string, encoding: "utf8" });
  } catch (error) {
    if (isMissing(error)) return null;
    throw unreadable(path, error);
  }
}

/** The first `maxBytes` of a file, or `null` when there is none that can be read. */
export async function readStart(path: string, maxBytes: number): Promise<Uint8Array | null> {
  if (!(await exists(path, { isFile: true }))) return null;
  const file = await fsPromises().open(path, "r");
  try {
    const buffer = Buffer.alloc(maxBytes);
    const { bytesRead } = await file.read(buffer, 0, maxBytes, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/** The file's bytes from its start on, a piece at a time. @throws {RalphError} file-unreadable */
export async function* readChunks(path: string): AsyncGenerator<Uint8Array> {
  const file = await opened(path);
  try {
    for (;;) {
      const buffer = Buffer.allocUnsafe(CHUNK_BYTES); // whoever takes a piece may keep it
      const { bytesRead } = await file.read(buffer, 0, CHUNK_BYTES, null);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } catch (error) {
    throw unreadable(path, error);
  } finally {
    await file.close();
  }
}

/** When a file was last written, in milliseconds since 1970; `null` when it is missing. */
export async function modifiedAt(path: string): Promise<number | null> {
  try {
    return statSync(path).mtimeMs;
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/** Adds text to the end of a file in one write. File and folder are made when missing. @throws {RalphError} file-unwritable */
export async function appendText(path: string, text: string): Promise<void> {
  await makingFolder(path, async () => appendFileSync(path, text));
}

/** Writes a file in place: a crash may leave a piece of it, so only for what may be lost. @throws {RalphError} file-unwritable */
export async function writePlain(path: string, text: string): Promise<void> {
  await makingFolder(path, async () => writeFileSync(path, text));
}

/** Opens a file to be added to. File and folder are made when missing. @throws {RalphError} file-unwritable */
export async function openAppender(path: string): Promise<Appender> {
  const file = await makingFolder(path, () => fsPromises().open(path, "a"));
  return {
    async write(chunk) {
      let written = 0;
      try {
        while (written < chunk.length) written += (await file.write(chunk, written)).bytesWritten;
      } catch (error) {
        throw unwritable(path, error);
      }
    },
    close: () => file.close(),
  };
}

/** True for a folder, also behind a symbolic link. */
export async function isDirectory(path: string): Promise<boolean> {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/** Makes a folder and those above it. @throws {RalphError} file-unwritable */
export async function ensureDirectory(path: string): Promise<void> {
  try {
    await ensureDir(path);
  } catch (error) {
    throw unwritable(path, error);
  }
}

/** True when something stands at the path; symbolic links are followed. */
export function pathExists(path: string): Promise<boolean> {
  return exists(path);
}

/** Takes away a file or a whole folder. A missing one is fine. */
export async function removePath(path: string): Promise<void> {
  if (isPlainFile(path)) return rmSync(path, { force: true });
  await fsPromises().rm(path, { recursive: true, force: true, maxRetries: 3 });
}

/** Moves a file or folder within one file system. @throws {RalphError} file-unwritable */
export async function renamePath(from: string, to: string): Promise<void> {
  await makingFolder(to, async () => renameSync(from, to));
}

/** Copies a file or a whole folder over what stands there. @throws {RalphError} file-unwritable */
export async function copyPath(from: string, to: string): Promise<void> {
  await makingFolder(to, () => copy(from, to, { overwrite: true }));
}

/** Makes a symbolic link in place of what is there. @throws {RalphError} file-unwritable */
export async function symbolicLink(target: string, path: string): Promise<void> {
  await removePath(path);
  await makingFolder(path, async () => symlinkSync(target, path));
}

/** Names in a folder, sorted; none when it is missing. */
export async function listDirectory(path: string): Promise<readonly string[]> {
  try {
    return readdirSync(path).sort();
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/** A fresh temporary folder, taken away when disposed. Its path has no symbolic link in it. */
export async function temporaryDirectory(prefix: string): Promise<{ readonly path: string } & AsyncDisposable> {
  const path = realpathSync.native(mkdtempSync(join(tmpdir(), prefix)));
  return { path, [Symbol.asyncDispose]: () => removePath(path) };
}

function isPlainFile(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

async function opened(path: string): Promise<FileHandle> {
  try {
    return await fsPromises().open(path, READ_FLAG);
  } catch (error) {
    throw unreadable(path, error);
  }
}

async function makingFolder<Value>(path: string, write: () => Promise<Value>): Promise<Value> {
  try {
    return await write();
  } catch (error) {
    if (!isMissing(error) || (await exists(dirname(path)))) throw unwritable(path, error);
  }
  await ensureDirectory(dirname(path));
  try {
    return await write();
  } catch (error) {
    throw unwritable(path, error);
  }
}

function isMissing(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code;
  return code === "ENOENT" || code === "ENOTDIR";
}
