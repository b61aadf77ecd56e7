import * as fs from "node:fs";
import { exists } from "@std/fs/exists";
import { RACY_MS } from "./hash.ts";
import { codeOf, entryAt, entryOrNothing, exactEntryAt, orElse } from "./looks.ts";

/** The facts of a path, without its content. */
export interface PathFacts {
  readonly kind: "file" | "link" | "other";
  readonly size: number;
  /** Permission bits. */
  readonly mode: number;
  /** Changes whenever the file is written or replaced. */
  readonly stamp: string;
}

/** The facts of a path, symbolic links not followed; `null` when nothing is there. */
export function factsOf(path: string): PathFacts | null {
  const found = entryAt(path);
  if (found === undefined) return null;
  return {
    kind: kindOf(found),
    size: found.size,
    mode: found.mode & 0o777,
    stamp: [found.ino, found.size, found.mtimeMs, found.ctimeMs].join(" "),
  };
}

/**
 * Milliseconds since 1970 at which the content of a path was written, and at which its entry changed, links not followed;
 * for what is gone, that may have been at any time.
 */
export function timesAt(path: string): readonly number[] {
  const found = entryAt(path);
  return found === undefined ? [0, Infinity] : [found.mtimeMs, found.ctimeMs];
}

function kindOf(found: fs.Stats): PathFacts["kind"] {
  if (found.isFile()) return "file";
  return found.isSymbolicLink() ? "link" : "other";
}

/**
 * A text that differs whenever the file at a path differs, links followed; "" if nothing is there. To be taken before
 * the file is read. `null` for a file that is so young that a later write may leave the same times, as git's "racily
 * clean" ones.
 */
export function stampOf(path: string): string | null {
  const now = Date.now();
  const found = entryOrNothing(() => fs.statSync(path, { throwIfNoEntry: false }));
  if (found === undefined) return "";
  const { dev, ino, size, mtimeMs, ctimeMs } = found;
  return Math.max(ctimeMs, mtimeMs) < now - RACY_MS ? `${dev} ${ino} ${size} ${mtimeMs} ${ctimeMs}` : null;
}

/** Nanoseconds since 1970 at which a path was changed in any way, links not followed; `null` when nothing is there. */
export function changedAt(path: string): bigint | null {
  return exactEntryAt(path)?.ctimeNs ?? null;
}

/** Tells whether a file was there at a time, in milliseconds since 1970: it was made, or last changed in any way, before. */
export function wasThere(path: string, time: number): boolean {
  const found = entryAt(path);
  return found !== undefined && [found.birthtimeMs, found.ctimeMs].some((one) => one > 0 && one < time);
}

/** A folder that is held until disposed of: `isThere()` is false once it was removed, also where another is in its place. */
export function holdFolder(path: string): Disposable & { readonly isThere: () => boolean } {
  const held = orElse(() => fs.openSync(path, "r"), null); // Windows opens none, and removes none that is in use
  return {
    isThere: () => held === null || entryAt(path)?.ino === fs.fstatSync(held).ino,
    [Symbol.dispose]: () => held === null ? undefined : fs.closeSync(held),
  };
}

/** The target of a symbolic link. */
export function readLink(path: string): string {
  return fs.readlinkSync(path);
}

/** Makes a symbolic link in place of what is there. */
export function writeLink(path: string, target: string): void {
  fs.rmSync(path, { force: true });
  fs.symlinkSync(target, path);
}

/** Sets the permission bits of a file. */
export function setMode(path: string, mode: number): void {
  if (process.platform !== "win32") fs.chmodSync(path, mode);
}

/** True when something is at the path; symbolic links are followed, and one that leads back to itself is there. */
export async function pathExists(path: string): Promise<boolean> {
  try {
    return await exists(path);
  } catch (error) {
    if (codeOf(error) === "ELOOP") return true;
    throw error;
  }
}
