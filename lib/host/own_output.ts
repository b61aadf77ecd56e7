import { fstatSync } from "node:fs";
import { exactEntryAt, orElse } from "./looks.ts";

const DESCRIPTORS: readonly number[] = [1, 2];

/** Says which files Ralph's own output goes to (`ralph run > out.log`), or is `null` where it goes to none. */
export type IsOwnOutput = ((path: string) => boolean) | null;

/** Recognises the files that this process writes its output to, by what they are and not by what they are called. */
export function ownOutput(): IsOwnOutput {
  const files = new Set(DESCRIPTORS.map(fileOf).filter((id) => id !== null));
  if (files.size === 0) return null;
  return (path) => {
    const found = exactEntryAt(path);
    return found !== undefined && files.has(`${found.dev}:${found.ino}`);
  };
}

function fileOf(descriptor: number): string | null {
  const found = orElse(() => fstatSync(descriptor, { bigint: true }), null); // none: it is closed
  return found?.isFile() === true ? `${found.dev}:${found.ino}` : null;
}
