import { fstatSync, lstatSync } from "node:fs";

const DESCRIPTORS: readonly number[] = [1, 2];

/** Says which files Ralph's own output goes to (`ralph run > out.log`), or is `null` where it goes to none. */
export type IsOwnOutput = ((path: string) => boolean) | null;

/** Recognises the files that this process writes its output to, by what they are and not by what they are called. */
export function ownOutput(): IsOwnOutput {
  const files = new Set(DESCRIPTORS.map(fileOf).filter((id) => id !== null));
  if (files.size === 0) return null;
  return (path) => {
    const found = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    return found !== undefined && files.has(`${found.dev}:${found.ino}`);
  };
}

function fileOf(descriptor: number): string | null {
  try {
    const found = fstatSync(descriptor, { bigint: true });
    return found.isFile() ? `${found.dev}:${found.ino}` : null;
  } catch {
    return null; // closed
  }
}
