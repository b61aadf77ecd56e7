import * as fs from "node:fs";
import { basename, dirname, isAbsolute, join, relative, sep } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { orUnwritable, unwritable } from "./file_errors.ts";
import { codeOf, entriesIn, entryAt, ifThere, orElse, unless } from "./looks.ts";

/**
 * Takes away a file, a link or an empty folder. A missing one is fine. A folder that holds something is never deleted: it
 * is renamed into `aside`.
 *
 * @param aside an absolute path. @default the folder stays, and this throws
 * @throws {RalphError} file-unwritable
 */
export async function removePath(path: string, aside?: string): Promise<void> {
  const found = entryAt(path);
  if (found === undefined) return;
  if (!found.isDirectory()) return removeFile(path);
  if (isRemovedEmpty(path)) return;
  if (aside === undefined) throw unwritable(path, Object.assign(new Error("ENOTEMPTY"), { code: "ENOTEMPTY" }));
  setAside(path, aside);
}

/**
 * Takes away a file, or a folder with all that is in it, which Ralph made: the only recursive deletion of the program.
 *
 * @param below a folder that Ralph made, or made `path` in: no link may lead from there to `path`
 * @throws {RalphError} file-unwritable
 */
export async function removeOwn(path: string, below: string): Promise<void> {
  if (entryAt(path)?.isDirectory() !== true) return await removePath(path);
  const inside = relative(below, path);
  const isBelow = inside !== "" && inside !== ".." && !inside.startsWith(`..${sep}`) && !isAbsolute(inside);
  if (!isBelow || fs.realpathSync.native(path) !== join(fs.realpathSync.native(below), inside)) {
    throw unwritable(path, new Error(`it is not below ${below}, so Ralph does not delete it`));
  }
  for (let left = 5;; left -= 1) {
    try {
      return await new Promise((resolve, reject) =>
        fs.rm(path, { recursive: true, force: true }, (error) => error === null ? resolve() : reject(error))
      );
    } catch (error) {
      const isClosed = codeOf(error) === "EACCES";
      // another process still writes there; Deno's `rm` has no `maxRetries`
      if (left === 0 || !(isClosed || ["ENOTEMPTY", "EBUSY", "EPERM"].includes(codeOf(error)))) {
        throw unwritable(path, error);
      }
      if (isClosed) openFolders(path);
      await wait((6 - left) * 50);
    }
  }
}

/** Nothing can be taken out of a folder that its owner may not write to: an overlay and some package managers make such. */
export function openFolders(folder: string): void {
  orElse(() => fs.chmodSync(folder, 0o700), undefined); // another user's stays as it is
  for (const entry of entriesIn(folder)) if (entry.isDirectory()) openFolders(join(folder, entry.name));
}

/** By `unlink` itself: Bun's `rm` calls an error that it does not know a bad address. */
function removeFile(path: string): void {
  orUnwritable(path, () => ifThere(() => fs.unlinkSync(path), undefined));
}

/** Removes a folder if it is empty; one that something is in, or that is a mount point, stays. @returns whether it did */
export function isRemovedEmpty(path: string): boolean {
  return orElse(() => (fs.rmdirSync(path), true), false); // something is in it, or it is no folder: removed in the long way
}

/**
 * The folder for what is in the way, by Ralph's own folder. That of a worktree is gone with it: its things come into the
 * repository's own. Pure.
 */
export function asideFolder(ralphDirectory: string): string {
  const [, common] = /^(.*)[\\/]worktrees[\\/][^\\/]+[\\/]ralph$/.exec(ralphDirectory) ?? [];
  return join(common === undefined ? ralphDirectory : join(common, "ralph"), "aside");
}

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
      fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
      const place = freeName(join(folder, basename(path)));
      if (unless(["EXDEV"], () => (fs.renameSync(path, place), true), false)) return place;
    }
    const beside = freeName(`${path}.aside`);
    fs.renameSync(path, beside);
    return beside;
  });
}

/** The same for what would go with the folder that it is in: on another disk it is copied. */
export function setAsideForGood(path: string, folder: string): string | null {
  const place = setAside(path, folder);
  if (place === null || dirname(place) === folder) return place;
  return orUnwritable(place, () => {
    const kept = freeName(join(folder, basename(path)));
    fs.cpSync(place, kept, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
    return kept;
  });
}

/** The same for a name below `top` that is not UTF-8: where it is now has a name that can be read. */
export function setAsideBytes(top: string, name: Buffer, folder: string): string {
  return orUnwritable(top, () => {
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
    const place = freeName(join(folder, basename(name.toString("utf8"))));
    const file = Buffer.concat([Buffer.from(`${top}/`), name]);
    if (!unless(["EXDEV"], () => (fs.renameSync(file, place), true), false)) fs.copyFileSync(file, place);
    return place;
  });
}

function freeName(path: string): string {
  for (let count = 1;; count++) {
    const name = count === 1 ? path : `${path}-${count}`;
    if (entryAt(name) === undefined) return name;
  }
}
