import { join } from "node:path";
import { entryAt, namesIn } from "./looks.ts";

/** Bytes that a file, or a folder with all that is in it, takes on the disk. 0 for what is not there or cannot be read. */
export function sizeOnDisk(path: string): number {
  const found = entryAt(path);
  if (found === undefined) return 0;
  const own = found.blocks * 512;
  if (!found.isDirectory()) return own;
  return namesIn(path).reduce((sum, name) => sum + sizeOnDisk(join(path, name)), own);
}
