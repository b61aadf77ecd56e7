import { closeSync, existsSync, fstatSync, mkdirSync, openSync, readSync, write, writeSync } from "node:fs";
import { dirname } from "node:path";
import { unwritable } from "./file_errors.ts";

/** A file that is only ever added to. */
export interface Appender {
  /**
   * Adds a chunk. Chunks are in the file in the order in which they were given. A promise: so much waits to be written
   * that the giver should wait too.
   *
   * @throws {RalphError} file-unwritable, also for what was given before
   */
  write(chunk: Uint8Array): void | Promise<void>;
  /**
   * Brings the file back, with all that it held, if it was taken away meanwhile.
   *
   * @throws {RalphError} file-unwritable
   */
  keep(): void;
  /** Writes what waits. @throws {RalphError} file-unwritable */
  close(): Promise<void>;
}

/** Written at once: handing so little to another thread costs more than to write it. */
const AT_ONCE_BYTES = 16 * 1024;
const MOST_WAITING_BYTES = 512 * 1024;

/**
 * Adds to an open file. Chunks that come while a write is under way are copied, and are the next write.
 *
 * @param opened open to be added to and read
 */
export function createAppender(opened: number, path: string): Appender {
  let file = opened;
  let filling = new ByteBuffer();
  let draining = new ByteBuffer();
  let writing: Promise<void> | null = null;
  let failure: unknown = null;
  let isOpen = true;

  async function writeWaiting(): Promise<void> {
    try {
      while (filling.length > 0) {
        [filling, draining] = [draining, filling];
        const bytes = draining.bytes();
        for (let from = 0; from < bytes.length;) from += await writeSome(file, bytes, from);
        draining.length = 0;
      }
    } catch (error) {
      failure = unwritable(path, error);
    } finally {
      writing = null;
    }
  }

  return {
    write(chunk) {
      if (failure !== null) throw failure;
      if (writing === null && chunk.length <= AT_ONCE_BYTES) return writeAll(file, chunk, path);
      filling.push(chunk);
      writing ??= writeWaiting();
      if (filling.length < MOST_WAITING_BYTES) return;
      return writing.then(() => {
        if (failure !== null) throw failure;
      });
    },
    keep() {
      if (!isOpen || writing !== null || existsSync(path)) return;
      try {
        mkdirSync(dirname(dirname(path)), { recursive: true });
        mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
        const held = new Uint8Array(fstatSync(file).size);
        readSync(file, held, 0, held.length, 0);
        const anew = openSync(path, "a+", 0o600);
        writeAll(anew, held, path);
        closeSync(file);
        file = anew;
      } catch (error) {
        throw unwritable(path, error);
      }
    },
    async close() {
      await writing;
      if (isOpen) closeSync(file); // the number may be another file's by the second time
      isOpen = false;
      if (failure !== null) throw failure;
    },
  };
}

/** Bytes in memory that is used again. */
class ByteBuffer {
  length = 0;
  #memory = new Uint8Array(0);

  push(chunk: Uint8Array): void {
    const needed = this.length + chunk.length;
    if (needed > this.#memory.length) {
      const larger = new Uint8Array(Math.max(needed, this.#memory.length * 2));
      larger.set(this.bytes());
      this.#memory = larger;
    }
    this.#memory.set(chunk, this.length);
    this.length = needed;
  }

  bytes(): Uint8Array {
    return this.#memory.subarray(0, this.length);
  }
}

function writeAll(file: number, chunk: Uint8Array, path: string): void {
  try {
    for (let from = 0; from < chunk.length;) from += writeSync(file, chunk, from);
  } catch (error) {
    throw unwritable(path, error);
  }
}

function writeSome(file: number, bytes: Uint8Array, from: number): Promise<number> {
  return new Promise((resolve, reject) => {
    write(file, bytes, from, bytes.length - from, null, (error, written) => {
      if (error === null) resolve(written);
      else reject(error);
    });
  });
}
