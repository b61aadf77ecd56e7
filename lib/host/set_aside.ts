import { mkdirSync, renameSync } from "node:fs";
import { basename, join, sep } from "node:path";
import { orUnwritable } from "./file_errors.ts";
import { entryAt, unless } from "./looks.ts";

/**
 * Renames whatever is at a path, so that nothing of it is lost. It goes into `folder`; where that is on another disk or
 * below the path itself, it stays beside its old place.
 *
 * @returns where it is now; `null` when nothing was there
 * @throws {RalphError} file-unwritable
 */
export function setAside(path: string, folder: string): string | null {
  return orUnwritable(path, () => {
    if (entryAt(path) === undefined) return null;
    if (!`${folder}${sep}`.startsWith(`${path}${sep}`)) {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const place = freeName(join(folder, basename(path)));
      if (unless(["EXDEV"], () => (renameSync(path, place), true), false)) return place;
    }
    const beside = freeName(`${path}.aside`);
    renameSync(path, beside);
    return beside;
  });
}

function freeName(path: string): string {
  for (let count = 1;; count++) {
    const name = count === 1 ? path : `${path}-${count}`;
    if (entryAt(name) === undefined) return name;
  }
}
