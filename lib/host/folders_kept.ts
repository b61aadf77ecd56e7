import { chmodSync, mkdirSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { orUnwritable } from "./file_errors.ts";
import { entryAt } from "./looks.ts";
import { setAside } from "./remove_path.ts";

/** The thing that stood in the place of a folder. */
export interface SwappedFolder {
  /** Absolute path of the folder, which is there again and empty. */
  readonly folder: string;
  /** Absolute path of what stood in its place. */
  readonly kept: string;
  readonly kind: "a file" | "a link" | "a pipe or a device";
}

/** Absolute paths of the folders between `root` and these paths that are there and no links, the outer ones first. */
export function foldersAbove(root: string, paths: readonly string[]): readonly string[] {
  const found = new Set<string>();
  for (const path of paths.filter((one) => !relative(root, one).startsWith(".."))) {
    for (const folder of foldersOf(root, [path])) {
      if (entryAt(folder)?.isDirectory() !== true) break;
      found.add(folder);
    }
  }
  return [...found];
}

/** Absolute paths of the folders between `root` and these paths, there or not, the outer ones first. */
export function foldersOf(root: string, paths: readonly string[]): readonly string[] {
  return [
    ...new Set(paths.flatMap((path) => {
      const parts = relative(root, path).split(sep).slice(0, -1);
      return parts.map((_, index) => join(root, ...parts.slice(0, index + 1)));
    })),
  ];
}

/** Makes the folders between `root` and a path that are missing. @param modes their permission bits, the outer ones first */
export function makeFoldersAbove(root: string, path: string, modes: readonly number[]): void {
  for (const [at, folder] of foldersOf(root, [path]).entries()) {
    const mode = modes[at];
    if (mode === undefined || entryAt(folder) !== undefined) continue;
    orUnwritable(folder, () => {
      mkdirSync(folder, { mode }); // never wider, not for a moment
      chmodSync(folder, mode | 0o700);
    });
  }
}

/**
 * Moves whatever else stands in the place of these folders into `aside`, and makes them again.
 *
 * @param moved links that were taken away from there, and their new places
 * @throws {RalphError} file-unwritable
 */
export function putFoldersBack(
  folders: readonly string[],
  { aside, moved }: { readonly aside: string; readonly moved: ReadonlyMap<string, string> },
): readonly SwappedFolder[] {
  const swapped: SwappedFolder[] = [];
  for (const folder of folders) {
    const found = entryAt(folder);
    if (found?.isDirectory() === true) continue;
    const kept = found === undefined ? moved.get(folder) ?? null : setAside(folder, aside);
    if (kept === null) continue;
    const kind = found?.isFile() === true
      ? "a file"
      : found?.isSymbolicLink() === false
      ? "a pipe or a device"
      : "a link";
    orUnwritable(folder, () => mkdirSync(folder));
    swapped.push({ folder, kept, kind });
  }
  return swapped;
}
