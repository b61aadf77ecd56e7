/**
 * Who wrote a file: no process can make another one's descriptor, so that a writer who keeps the file open, and names
 * itself in it, proves that it is who it says.
 *
 * @module
 */
import process from "node:process";
import { closeSync, openSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { orUnwritable } from "./file_errors.ts";
import { linkAt, namesIn } from "./looks.ts";
import { findProcess, listPids, readOrNull } from "./process_table.ts";
import { temporaryName } from "./write_atomic.ts";

/**
 * Writes a file in an existing folder, for its owner alone and whole from the start, and keeps it open until disposed.
 *
 * @throws {RalphError} file-unwritable
 */
export function writeHeld(path: string, text: string): Disposable {
  const temporary = join(dirname(path), temporaryName(basename(path)));
  return orUnwritable(path, () => {
    const file = openSync(temporary, "wx", 0o600);
    try {
      writeFileSync(file, text);
      renameSync(temporary, path);
    } catch (error) {
      closeSync(file);
      rmSync(temporary, { force: true });
      throw error;
    }
    return { [Symbol.dispose]: () => closeSync(file) };
  });
}

/**
 * Tells whether a process that this one did not start, directly or by others, holds a file open.
 *
 * @param runToken the mark that this process's children carry
 * @returns `null` where the system does not report it: without `/proc`
 */
export async function isHeldByOther(path: string, pid: number, runToken: string): Promise<boolean | null> {
  if (listPids() === null) return null;
  const real = realpathSync(path);
  const folder = `/proc/${pid}/fd`;
  if (!namesIn(folder).some((name) => linkAt(`${folder}/${name}`) === real)) return false;
  if (readOrNull(`/proc/${pid}/environ`)?.includes(runToken) !== false) return false;
  for (let current = pid; current > 1;) {
    if (current === process.pid) return false;
    const entry = await findProcess(current);
    if (entry === null) return false;
    current = entry.parent;
  }
  return true;
}
