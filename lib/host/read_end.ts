import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { orElse } from "./looks.ts";

/** The last `maxBytes` of a regular file as text; `null` when there is none that can be read. */
export function readEnd(path: string, maxBytes: number): { readonly text: string; readonly isWhole: boolean } | null {
  const file = orElse(() => openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)), null);
  if (file === null) return null;
  try {
    const found = fstatSync(file);
    if (!found.isFile()) return null;
    const length = Math.min(found.size, maxBytes);
    const buffer = Buffer.alloc(length);
    const read = readSync(file, buffer, 0, length, found.size - length);
    return { text: buffer.subarray(0, read).toString("utf8"), isWhole: length === found.size };
  } finally {
    closeSync(file);
  }
}
