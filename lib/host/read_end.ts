import { fstatSync, readSync } from "node:fs";
import { openFile, orElse } from "./looks.ts";

/** The last `maxBytes` of a regular file as text; `null` when there is none that can be read. */
export function readEnd(path: string, maxBytes: number): { readonly text: string; readonly isWhole: boolean } | null {
  using file = orElse(() => openFile(path), null);
  if (file === null) return null;
  const found = fstatSync(file.descriptor);
  if (!found.isFile()) return null;
  const length = Math.min(found.size, maxBytes);
  const buffer = Buffer.alloc(length);
  const read = readSync(file.descriptor, buffer, 0, length, found.size - length);
  return { text: buffer.subarray(0, read).toString("utf8"), isWhole: length === found.size };
}
