import { closeSync, openSync, readSync, rmSync, unlinkSync, writeSync } from "node:fs";
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
  function orThrow<Value>(act: () => Value, named: typeof unwritable): Value {
    try {
      return act();
    } catch (error) {
      throw named(name, error);
    }
  }
  const file = orThrow(() => {
    rmSync(name, { force: true }); // of a dead process that had the same number
    const opened = openSync(name, "wx+", 0o600);
    unlinkSync(name);
    return opened;
  }, unwritable);
  return {
    write: (bytes, at) =>
      orThrow(() => {
        for (let from = 0; from < bytes.length;) from += writeSync(file, bytes, from, bytes.length - from, at + from);
      }, unwritable),
    read: (length) =>
      orThrow(() => {
        const bytes = Buffer.alloc(length);
        for (let from = 0, count = 1; from < length; from += count) {
          count = readSync(file, bytes, from, length - from, from);
          if (count === 0) throw new Error("it is shorter than what was written");
        }
        return bytes;
      }, unreadable),
    close: () => closeSync(file),
  };
}
