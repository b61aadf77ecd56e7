import { fstatSync, type FSWatcher, readSync, statSync, watch } from "node:fs";
import { openFile, orElse } from "./looks.ts";
import { clearInterval, clearTimeout, setInterval, setTimeout } from "node:timers";

/** Calls `act` after each change of a file, or of a folder's entries, until disposed. Holds no process up. */
export function watchPath(path: string, act: () => void): Disposable {
  let watcher: FSWatcher | null = null;
  try {
    watcher = watch(path, { persistent: false }, act);
    watcher.on("error", () => watcher?.close()); // taken away: nothing is left to see
  } catch {
    watcher = null; // no such path, or no watches left on this machine
  }
  return {
    [Symbol.dispose]() {
      watcher?.close();
    },
  };
}

/** How often a followed file is read at most, and how often its size is looked at where no change was reported. */
const LEAST_MS = 50;
const LOOK_MS = 5000;
const CHUNK_BYTES = 256 * 1024;

/**
 * Hands over what a file holds, then what is added to it, as it is added. A file that is missing is waited for; one that
 * became shorter is read from its new end. Its folder must exist.
 *
 * @returns once the present content was handed over; dispose it to stop
 */
export function followFile(path: string, take: (chunk: Uint8Array) => void): Disposable {
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  let offset = 0;
  let pending: ReturnType<typeof setTimeout> | null = null;
  let watcher: Disposable | null = null;

  function read(): void {
    pending = null;
    using file = orElse(() => openFile(path, "r"), null);
    if (file === null) return;
    watcher ??= watchPath(path, soon);
    offset = Math.min(offset, fstatSync(file.descriptor).size);
    for (;;) {
      const length = readSync(file.descriptor, buffer, 0, buffer.length, offset);
      if (length === 0) return;
      offset += length;
      take(Uint8Array.prototype.slice.call(buffer, 0, length));
    }
  }

  function soon(): void {
    pending ??= setTimeout(read, LEAST_MS);
  }

  read();
  const look = setInterval(() => {
    // where changes are not reported: a network's file system, a container's mount
    if (sizeOf(path) !== offset) soon();
  }, LOOK_MS);
  return {
    [Symbol.dispose]() {
      clearInterval(look);
      if (pending !== null) clearTimeout(pending);
      watcher?.[Symbol.dispose]();
    },
  };
}

function sizeOf(path: string): number {
  return orElse(() => statSync(path).size, 0);
}
