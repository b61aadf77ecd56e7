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
