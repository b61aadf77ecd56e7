import { closeSync, openSync, readSync, unlinkSync, writeSync } from "node:fs";
import process from "node:process";
import { unreadable, unwritable } from "./file_errors.ts";

/** Bytes on the disk that nothing else can change. */
export interface OwnCopy {
  /** Writes at an offset. @throws {RalphError} file-unwritable */
  write(bytes: Uint8Array, at: number): void;
  /** Its first bytes. @throws {RalphError} file-unreadable */
  read(length: number): Buffer;
  close(): void;
}

/**
 * A file beside another one, under no name: only who holds it open reads or writes it, and it is gone with the process.
 *
 * @throws {RalphError} file-unwritable
 */
export function createOwnCopy(beside: string): OwnCopy {
  const name = `${beside}.own-${process.pid}`;
  const file = openNameless(name);
  return {
    write(bytes, at) {
      try {
        for (let from = 0; from < bytes.length;) from += writeSync(file, bytes, from, bytes.length - from, at + from);
      } catch (error) {
        throw unwritable(name, error);
      }
    },
    read(length) {
      const bytes = Buffer.alloc(length);
      try {
        for (let from = 0; from < length;) from += readAt(file, bytes, from);
      } catch (error) {
        throw unreadable(name, error);
      }
      return bytes;
    },
    close: () => closeSync(file),
  };
}

function openNameless(name: string): number {
  try {
    unlinkIfThere(name); // of a dead process that had the same number
    const file = openSync(name, "wx+", 0o600);
    unlinkSync(name);
    return file;
  } catch (error) {
    throw unwritable(name, error);
  }
}

function readAt(file: number, bytes: Buffer, at: number): number {
  const count = readSync(file, bytes, at, bytes.length - at, at);
  if (count === 0) throw new Error("it is shorter than what was written");
  return count;
}

function unlinkIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}
