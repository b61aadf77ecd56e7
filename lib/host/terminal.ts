import { fstatSync, writeSync } from "node:fs";
import process from "node:process";
import type { Terminal } from "./types.ts";

const DESCRIPTORS = { stdin: 0, stdout: 1, stderr: 2 } as const;

/** How long a write waits for a reader that is slow, in milliseconds a turn. */
const WAIT_MS = 2;

/**
 * The process's own streams. Text is written by way of their descriptors: opening the runtime's stream objects costs more
 * than many a command's whole work, so they are touched only by what needs them (prompts).
 */
export function createTerminal(): Terminal {
  return {
    get stdin() {
      return process.stdin;
    },
    get stdout() {
      return process.stdout;
    },
    get stderr() {
      return process.stderr;
    },
    get interactive() {
      return isTerminal("stdin") && isTerminal("stderr");
    },
    isTerminal,
    write(stream, text) {
      writeAll(DESCRIPTORS[stream], Buffer.from(text));
    },
  };
}

/** A pipe, a file or nothing is told by its kind alone; only what could be a terminal is asked. */
function isTerminal(stream: keyof typeof DESCRIPTORS): boolean {
  const descriptor = DESCRIPTORS[stream];
  try {
    if (!fstatSync(descriptor).isCharacterDevice()) return false;
  } catch {
    return false;
  }
  return process.getBuiltinModule("node:tty").isatty(descriptor);
}

function writeAll(descriptor: number, bytes: Uint8Array): void {
  for (let written = 0; written < bytes.length;) {
    try {
      written += writeSync(descriptor, bytes, written);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "EAGAIN") return; // closed (`ralph status | head -1`), hung up, or a full disk behind it: nobody to tell
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAIT_MS);
    }
  }
}
