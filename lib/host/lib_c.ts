import { Buffer } from "node:buffer";
import process from "node:process";

/** A function of the C library, by the types of its arguments and of its result. */
interface Signature {
  readonly args: readonly string[];
  readonly returns: string;
}

interface Ffi {
  dlopen(library: string, functions: Readonly<Record<string, Signature>>): { readonly symbols: unknown };
}

const LIBRARIES = ["libc.so.6", `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`, "libc.so"];

/** Functions of the C library. `null` anywhere but under Bun on Linux, and for a library that lacks one of them. */
export function loadLibC<Functions>(functions: Readonly<Record<keyof Functions, Signature>>): Functions | null {
  if (process.platform !== "linux" || process.versions["bun"] === undefined) return null;
  const ffi = process.getBuiltinModule("bun:ffi") as unknown as Ffi | undefined;
  if (ffi === undefined) return null;
  for (const library of LIBRARIES) {
    try {
      return ffi.dlopen(library, functions).symbols as Functions;
    } catch {
      // the next name: each C library has its own
    }
  }
  return null;
}

interface Renames {
  renameat2(fromFolder: number, from: Uint8Array, toFolder: number, to: Uint8Array, flags: number): number;
}

const HERE = -100; // AT_FDCWD: paths are absolute
const NO_REPLACE = 1;
const EXCHANGE = 2;

let renames: Renames | null | undefined;

/** Lets two files change places in one step, so that nothing is lost of what either path holds. `false`: it cannot be done here. */
export function exchange(one: string, other: string): boolean {
  return rename(one, other, EXCHANGE);
}

/** Renames a file to a path that has none. `false`: there is one, or it cannot be done here. */
export function renameToNew(from: string, to: string): boolean {
  return rename(from, to, NO_REPLACE);
}

function rename(from: string, to: string, flags: number): boolean {
  if (renames === undefined) {
    renames = loadLibC<Renames>({ renameat2: { args: ["i32", "ptr", "i32", "ptr", "u32"], returns: "i32" } });
  }
  return renames?.renameat2(HERE, terminated(from), HERE, terminated(to), flags) === 0;
}

function terminated(path: string): Uint8Array {
  return Buffer.from(`${path}\0`);
}
