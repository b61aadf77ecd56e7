import { fstatSync, writeSync } from "node:fs";
import { devNull } from "node:os";
import process from "node:process";
import { entryAt, orElse } from "./looks.ts";
import type { Terminal } from "./types.ts";

const ERASE_LINE = "\u001b[K";

const ERASE_BELOW = "\u001b[J";

const DESCRIPTORS = { stdin: 0, stdout: 1, stderr: 2 } as const;

/** Closed (`ralph status | head -1`) or hung up: no one reads it, and nothing is missing. */
const GONE: ReadonlySet<string> = new Set(["EPIPE", "EIO", "EBADF"]);

/** How long a write waits for a reader that is slow, in milliseconds a turn. */
const WAIT_MS = 2;

/**
 * The process's own streams. Text is written by way of their descriptors: opening the runtime's stream objects costs more
 * than many a command's whole work, so they are touched only by what needs them (prompts).
 */
export function createTerminal(): Terminal {
  const footer = createFooter();
  let used = false;
  let unwritten: Error | null = null;
  const control = (text: string): void => void writeAll(DESCRIPTORS.stderr, Buffer.from(text));
  const size = (): { readonly columns: number; readonly rows: number } => {
    const { columns, rows } = process.stderr;
    return { columns: columns || 80, rows: rows || 24 };
  };

  function write(stream: "stdout" | "stderr", text: string): void {
    if (!used) return stream === "stdout" ? data(text) : control(text);
    if (text === "") return;
    const lifted = footer.lift();
    const dropped = footer.drop(size().columns, !text.endsWith("\n"));
    if (stream === "stderr") return control(lifted + text + dropped);
    control(lifted);
    data(text);
    control(dropped);
  }

  function data(text: string): void {
    const error = writeAll(DESCRIPTORS.stdout, Buffer.from(text));
    if (error !== null && !GONE.has(error.code ?? "")) unwritten ??= error;
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
    get unwritten() {
      return unwritten;
    },
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
  const found = orElse(() => fstatSync(descriptor), null);
  // Asking loads all of the runtime's streams: the device that `> /dev/null` is needs no question.
  if (found?.isCharacterDevice() !== true || found.rdev === entryAt(devNull)?.rdev) return false;
  return process.getBuiltinModule("node:tty").isatty(descriptor);
}

/** Text in a colour or weight; `node:util` is loaded with the first: it costs a command as much as the rest of its start. */
export function styledText(format: "bold" | "cyan" | "dim" | "green" | "red" | "yellow", text: string): string {
  return process.getBuiltinModule("node:util").styleText(format, text, { validateStream: false });
}

/** A text without the colours and the movements of a terminal. */
export function unstyledText(text: string): string {
  return /[\u001b\u009b]/.test(text) ? process.getBuiltinModule("node:util").stripVTControlCharacters(text) : text;
}

/** @returns what ended it before all was written */
function writeAll(descriptor: number, bytes: Uint8Array): NodeJS.ErrnoException | null {
  for (let written = 0; written < bytes.length;) {
    try {
      written += writeSync(descriptor, bytes, written);
    } catch (error) {
      const failure = error as NodeJS.ErrnoException;
      if (failure.code !== "EAGAIN") return failure;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAIT_MS);
    }
  }
  return null;
}

/** The lines that stay below all that is written to a terminal. Gives the text to write; writes nothing itself. */
interface Footer {
  /** Shows these lines from now on, cut for this many columns; none removes the footer. */
  show(lines: readonly string[], columns: number): string;
  /** Takes it away, so that text can be written. */
  lift(): string;
  /**
   * Puts it back.
   *
   * @param columns as many as there are now; at another width the lines would wrap, and stay away
   * @param midLine what was written did not end its line: the footer waits for the end
   */
  drop(columns: number, midLine: boolean): string;
  /** The terminal is lent until `unlock()`. Calls nest. */
  lock(): string;
  unlock(columns: number): string;
}

/**
 * The cursor rests at the footer's first character: from there everything below can be erased, however the terminal has
 * wrapped the lines meanwhile, and what is written past this footer is not lost.
 */
export function createFooter(): Footer {
  let lines: readonly string[] = [];
  let width = 0;
  let isShown = false;
  let locks = 0;
  let waits = false;

  function draw(): string {
    if (locks > 0 || waits || lines.length === 0) return "";
    isShown = true;
    const up = lines.length === 1 ? "" : `\u001b[${lines.length - 1}A`;
    return `\r${lines.join(`${ERASE_LINE}\r\n`)}${ERASE_BELOW}${up}\r`;
  }

  function lift(): string {
    if (!isShown) return "";
    isShown = false;
    return `\r${ERASE_BELOW}`;
  }

  return {
    show(next, columns) {
      const same = isShown && columns === width && next.length === lines.length &&
        next.every((line, index) => line === lines[index]);
      if (same) return "";
      const resized = columns !== width;
      lines = next;
      width = columns;
      return next.length === 0 || resized ? lift() + draw() : draw();
    },
    lift,
    drop(columns, midLine) {
      waits = midLine;
      return columns === width ? draw() : "";
    },
    lock() {
      locks += 1;
      return lift();
    },
    unlock(columns) {
      locks -= 1;
      return columns === width ? draw() : "";
    },
  };
}
