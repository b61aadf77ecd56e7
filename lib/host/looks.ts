/**
 * Looks at what may be gone, another user's, or anything that a turn has put there.
 *
 * @module
 */
import { closeSync, constants, lstatSync, openSync, readdirSync, readlinkSync } from "node:fs";
import type { BigIntStats, Dirent, Stats } from "node:fs";

/** The code of a system error; "" for any other. */
export function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException | undefined)?.code ?? "";
}

/** Nothing is at the path of the error: a path below a file leads to nothing, too. */
export function isMissing(error: unknown): boolean {
  return MISSING.includes(codeOf(error));
}

const MISSING = ["ENOENT", "ENOTDIR"];

/** Answers the find of a look, and `none` if it fails. */
export function orElse<Value>(look: () => Value, none: Value): Value {
  try {
    return look();
  } catch {
    return none;
  }
}

/** Answers the find of a look, and `none` if it fails with one of these codes. */
export function unless<Value>(codes: readonly string[], look: () => Value, none: Value): Value {
  try {
    return look();
  } catch (error) {
    if (codes.includes(codeOf(error))) return none;
    throw error;
  }
}

/** Answers the find of a look, and `none` if nothing is there. */
export function ifThere<Value>(look: () => Value, none: Value): Value {
  return unless(MISSING, look, none);
}

/** An open file, closed at the end of the block that uses it. */
export interface OpenFile extends Disposable {
  readonly descriptor: number;
}

/** A pipe in a file's place is not waited for. */
const TO_READ: number = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** Opens a file. @param flags as `fs.open` takes them; to read it by default */
export function openFile(path: string, flags: number | string = TO_READ, mode?: number): OpenFile {
  const descriptor = openSync(path, flags, mode);
  return { descriptor, [Symbol.dispose]: () => closeSync(descriptor) };
}

/** Names in a folder; none where it cannot be read. */
export function namesIn(folder: string): readonly string[] {
  return orElse(() => readdirSync(folder), []);
}

/** The entries of a folder; none where it cannot be read. */
export function entriesIn(folder: string): readonly Dirent[] {
  return orElse(() => readdirSync(folder, { withFileTypes: true }), []);
}

/** The target of a link; "" where none can be read. */
export function linkAt(path: string): string {
  return orElse(() => readlinkSync(path), "");
}

/** The find of `lstat` or `stat`, and `undefined` for nothing. */
export function entryOrNothing<Found>(look: () => Found | undefined): Found | undefined {
  return unless(["ENOTDIR"], look, undefined);
}

/** The entry at a path, links not followed; `undefined` where nothing is. */
export function entryAt(path: string): Stats | undefined {
  return entryOrNothing(() => lstatSync(path, { throwIfNoEntry: false }));
}

/** The same, with its numbers in full. */
export function exactEntryAt(path: string): BigIntStats | undefined {
  return entryOrNothing(() => lstatSync(path, { bigint: true, throwIfNoEntry: false }));
}
