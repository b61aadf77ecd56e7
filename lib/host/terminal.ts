import { fstatSync, writeSync } from "node:fs";
import process from "node:process";
import { createFooter } from "./footer.ts";
import type { Terminal } from "./types.ts";

const DESCRIPTORS = { stdin: 0, stdout: 1, stderr: 2 } as const;

/** How long a write waits for a reader that is slow, in milliseconds a turn. */
const WAIT_MS = 2;

/**
 * The process's own streams. Text is written by way of their descriptors: opening the runtime's stream objects costs more
 * than many a command's whole work, so they are touched only by what needs them (prompts).
 */
export function createTerminal(): Terminal {
  const footer = createFooter();
  let used = false;
  const control = (text: string): void => writeAll(DESCRIPTORS.stderr, Buffer.from(text));
  const size = (): { readonly columns: number; readonly rows: number } => {
    const { columns, rows } = process.stderr;
    return { columns: columns || 80, rows: rows || 24 };
  };

  function write(stream: "stdout" | "stderr", text: string): void {
    if (!used) return writeAll(DESCRIPTORS[stream], Buffer.from(text));
    if (text === "") return;
    const lifted = footer.lift();
    const dropped = footer.drop(size().columns, !text.endsWith("\n"));
    if (stream === "stderr") return control(lifted + text + dropped);
    control(lifted);
    writeAll(DESCRIPTORS.stdout, Buffer.from(text));
    control(dropped);
  }

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
    write,
    size,
    footer(lines) {
      if (!used) process.on("exit", () => control(footer.lift())); // however this process ends
      used = true;
      control(footer.show(lines, size().columns));
    },
    async lend(run) {
      control(footer.lock());
      try {
        return await run();
      } finally {
        control(footer.unlock(used ? size().columns : 0));
      }
    },
  };
}

/** A pipe, a file or nothing is recognised by its kind alone; only what could be a terminal is asked. */
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
      if (code !== "EAGAIN") return; // closed (`ralph status | head -1`), hung up, or a full disk: there is no one to tell
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAIT_MS);
    }
  }
}
