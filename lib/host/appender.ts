import { closeSync, existsSync, fstatSync, mkdirSync, openSync, readSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { orUnwritable } from "./file_errors.ts";

/** A file that is only ever added to. */
export interface Appender {
  /** Adds a chunk, which is in the file when this returns. @throws {RalphError} file-unwritable */
  write(chunk: Uint8Array): void;
  /**
   * Brings the file back, with all that it held, if it was taken away meanwhile.
   *
   * @throws {RalphError} file-unwritable
   */
  keep(): void;
  /** The second call does nothing. */
  close(): Promise<void>;
}

/**
 * Adds to an open file, at once and on this thread: the disk's cache takes a chunk sooner than another thread would.
 *
 * @param opened open to be added to and read
 */
export function createAppender(opened: number, path: string): Appender {
  let file = opened;
  let isOpen = true;

  return {
    write: (chunk) => writeAll(file, chunk, path),
    keep() {
      if (!isOpen || existsSync(path)) return;
      orUnwritable(path, () => {
        mkdirSync(dirname(dirname(path)), { recursive: true });
        mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
        const held = new Uint8Array(fstatSync(file).size);
        readSync(file, held, 0, held.length, 0);
        const anew = openSync(path, "a+", 0o600);
        writeAll(anew, held, path);
        closeSync(file);
        file = anew;
      });
    },
    async close() {
      if (isOpen) closeSync(file); // the number may be another file's by the second time
      isOpen = false;
    },
  };
}

function writeAll(file: number, chunk: Uint8Array, path: string): void {
  orUnwritable(path, () => {
    for (let from = 0; from < chunk.length;) from += writeSync(file, chunk, from);
  });
}
