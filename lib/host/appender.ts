import { closeSync, constants, fstatSync, mkdirSync, openSync, readSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { orUnwritable } from "./file_errors.ts";
import { codeOf, entryAt } from "./looks.ts";
import { setAside } from "./remove_path.ts";

/** Windows has no such flag. */
const OWN_FLAGS = constants.O_RDWR | constants.O_CREAT | constants.O_APPEND | (constants.O_NOFOLLOW ?? 0);

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

  /** The file is still at its path, and not another one or a link. */
  function isHere(): boolean {
    const [found, own] = [entryAt(path), fstatSync(file)];
    return found !== undefined && found.ino === own.ino && found.dev === own.dev;
  }

  return {
    write: (chunk) => writeAll(file, chunk, path),
    keep() {
      if (!isOpen || isHere()) return;
      orUnwritable(path, () => {
        mkdirSync(dirname(dirname(path)), { recursive: true });
        mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
        const held = new Uint8Array(fstatSync(file).size);
        readSync(file, held, 0, held.length, 0);
        putBeside(path);
        const anew = openOwn(path, 0o600);
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

function putBeside(path: string): void {
  setAside(path, join(path, "aside")); // a folder that cannot be: it stays beside its place
}

/**
 * Opens a file to be added to, and read. A link in its place, or a file that has another name as well, is not Ralph's:
 * what is added would be somewhere else. It is renamed to `*.aside`.
 */
export function openOwn(path: string, mode: number): number {
  for (;;) {
    const found = entryAt(path);
    if (found !== undefined && !found.isDirectory() && (!found.isFile() || found.nlink > 1)) putBeside(path);
    try {
      return openSync(path, OWN_FLAGS, mode);
    } catch (error) {
      if (codeOf(error) !== "ELOOP") throw error; // a link since the look
    }
  }
}

function writeAll(file: number, chunk: Uint8Array, path: string): void {
  orUnwritable(path, () => {
    for (let from = 0; from < chunk.length;) from += writeSync(file, chunk, from);
  });
}
