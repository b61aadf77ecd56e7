import process from "node:process";
import { fsPromises } from "./fs_promises.ts";
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, readlinkSync } from "node:fs";

/**
 * A file that changed so short before it was read may change again within the same tick of its time stamp:
 * Deno reports the time of a change in whole seconds.
 */
export const RACY_MS: number = 1100;

const CHUNK_BYTES = 1 << 18;

/** After so many files others have their turn: timers, signals, children. */
const AT_ONCE_FILES = 200;

/** sha256 of a text, in hex. */
export function hashText(text: string | Uint8Array): string {
  return sha256().update(text).digest("hex");
}

/** sha256 of a file's bytes in hex; a large one is read piece by piece. `null` when there is no file. */
export async function hashFile(path: string): Promise<string | null> {
  try {
    return hashSmall(path) ?? await hashLarge(path);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    throw error;
  }
}

/** At once, on this thread, as the small reads of `files.ts`: of thousands of files each would cost ten times as much. */
function hashSmall(path: string): string | null {
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const found = fstatSync(file);
    return found.isFile() && found.size <= CHUNK_BYTES ? hashText(readFileSync(file)) : null;
  } finally {
    closeSync(file);
  }
}

async function hashLarge(path: string): Promise<string> {
  const file = await fsPromises().open(path, "r");
  try {
    const hash = sha256();
    const { size } = await file.stat();
    const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, size + 1));
    while (true) {
      const { bytesRead } = await file.read(buffer, 0, buffer.length);
      if (bytesRead === 0) return hash.digest("hex");
      hash.update(buffer.subarray(0, bytesRead));
    }
  } finally {
    await file.close();
  }
}

interface Sha256 {
  update(data: string | Uint8Array): Sha256;
  digest(encoding: "hex"): string;
}

/** The used part of `Bun`: `node:crypto` brings all streams, a tenth of the time of a command that only looks. */
interface BunRuntime {
  readonly CryptoHasher: new (algorithm: "sha256") => Sha256;
}

/** Elsewhere loaded with the first hash. */
function sha256(): Sha256 {
  const bun = (globalThis as { readonly Bun?: BunRuntime }).Bun;
  return bun === undefined
    ? process.getBuiltinModule("node:crypto").createHash("sha256")
    : new bun.CryptoHasher("sha256");
}

/** A path's content and kind as one text; `null` when nothing is there. */
export type ContentHashes = (path: string) => Promise<string | null>;

/**
 * Content hashes with a memory: a file whose size, times and inode are as they were is not read again.
 * Executable files and symbolic links count as different from plain files of the same bytes.
 */
export function createContentHashes(): ContentHashes {
  let count = 0;
  const known = new Map<string, { readonly key: string; readonly hash: string }>();

  async function read(path: string): Promise<string | null> {
    let found;
    try {
      found = lstatSync(path);
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      if (code === "ENOENT" || code === "ENOTDIR") return null;
      throw error;
    }
    if (found.isSymbolicLink()) return `link ${hashText(readlinkSync(path))}`;
    if (!found.isFile()) return found.isDirectory() ? "folder" : "special";
    const key = [found.size, found.mtimeMs, found.ctimeMs, found.ino, found.mode].join(" ");
    const before = known.get(path);
    if (before?.key === key) return before.hash;
    count += 1;
    if (count % AT_ONCE_FILES === 0) await new Promise((resolve) => setImmediate(resolve));
    const readAt = Date.now();
    const bytes = await hashFile(path);
    if (bytes === null) return null;
    const hash = `${found.mode & 0o100 ? "executable" : "file"} ${bytes}`;
    if (Math.max(found.ctimeMs, found.mtimeMs) < readAt - RACY_MS) known.set(path, { key, hash });
    else known.delete(path);
    return hash;
  }

  return read;
}
