import { Buffer } from "node:buffer";
import { loadLibC } from "./lib_c.ts";

interface LibC {
  renameat2(fromFolder: number, from: Uint8Array, toFolder: number, to: Uint8Array, flags: number): number;
}

const HERE = -100; // AT_FDCWD: paths are absolute
const NO_REPLACE = 1;
const EXCHANGE = 2;

let libC: LibC | null | undefined;

/** Lets two files change places in one step, so that nothing is lost of what either path holds. `false`: it cannot be done here. */
export function exchange(one: string, other: string): boolean {
  return rename(one, other, EXCHANGE);
}

/** Renames a file to a path that has none. `false`: there is one, or it cannot be done here. */
export function renameToNew(from: string, to: string): boolean {
  return rename(from, to, NO_REPLACE);
}

function rename(from: string, to: string, flags: number): boolean {
  if (libC === undefined) {
    libC = loadLibC<LibC>({ renameat2: { args: ["i32", "ptr", "i32", "ptr", "u32"], returns: "i32" } });
  }
  return libC?.renameat2(HERE, terminated(from), HERE, terminated(to), flags) === 0;
}

function terminated(path: string): Uint8Array {
  return Buffer.from(`${path}\0`);
}
