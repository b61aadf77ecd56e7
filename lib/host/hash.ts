import process from "node:process";
import { fstatSync, readlinkSync, readSync } from "node:fs";
import { entryAt, ifThere, openFile } from "./looks.ts";

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

/** sha256 of a file's bytes in hex, read piece by piece; `null` when there is no file. */
export async function hashFile(path: string): Promise<string | null> {
  using file = ifThere(() => openFile(path), null);
  if (file === null) return null;
  const { descriptor } = file;
  const hash = sha256();
  const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, fstatSync(descriptor).size + 1));
  for (let length = readSync(descriptor, buffer); length > 0; length = readSync(descriptor, buffer)) {
    hash.update(buffer.subarray(0, length));
    if (length === CHUNK_BYTES) await othersTurn();
  }
  return hash.digest("hex");
}

function sha256(): Hasher {
  return createHasher("sha256");
}

/** Takes bytes piece by piece, and says their hash. */
interface Hasher {
  update(content: string | Uint8Array): Hasher;
  digest(encoding: "hex"): string;
}

/** As `createHash()` of `node:crypto`, whose loading takes Bun longer than all that a run hashes. */
export function createHasher(algorithm: string): Hasher {
  const { Bun: bun } = globalThis as {
    readonly Bun?: { readonly CryptoHasher: new (algorithm: never) => Hasher };
  };
  return bun === undefined
    ? process.getBuiltinModule("node:crypto").createHash(algorithm)
    : new bun.CryptoHasher(algorithm as never);
}

function othersTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
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
    const found = entryAt(path);
    if (found === undefined) return null;
    if (found.isSymbolicLink()) return `link ${hashText(readlinkSync(path))}`;
    if (!found.isFile()) return found.isDirectory() ? "folder" : "special";
    const key = [found.size, found.mtimeMs, found.ctimeMs, found.ino, found.mode].join(" ");
    const before = known.get(path);
    if (before?.key === key) return before.hash;
    count += 1;
    if (count % AT_ONCE_FILES === 0) await othersTurn();
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
