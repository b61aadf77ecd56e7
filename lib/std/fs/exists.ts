/**
 * `@std/fs/exists` on `node:fs`: same name, same signature.
 *
 * @module
 */
import { statSync } from "node:fs";

/** The kind of thing that the path must be. */
export interface ExistsOptions {
  /** True only for a folder. @default false */
  isDirectory?: boolean;
  /** True only for a file. @default false */
  isFile?: boolean;
}

/** True when something is at the path. Symbolic links are followed. */
export async function exists(path: string | URL, options: ExistsOptions = {}): Promise<boolean> {
  try {
    const found = statSync(path);
    if (options.isDirectory) return found.isDirectory();
    if (options.isFile) return found.isFile();
    return true;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "ENOENT" || code === "ENOTDIR") return false;
    throw error;
  }
}
