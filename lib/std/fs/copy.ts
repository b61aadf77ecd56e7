/**
 * `@std/fs/copy` on `node:fs`: same name, same signature.
 *
 * @module
 */
import process from "node:process";

/** How to copy. */
export interface CopyOptions {
  /** Replace what is there. @default false */
  overwrite?: boolean;
  /** Keep the times of the original. @default false */
  preserveTimestamps?: boolean;
}

/** Copies a file or a whole folder. */
export async function copy(src: string | URL, dest: string | URL, options: CopyOptions = {}): Promise<void> {
  await process.getBuiltinModule("node:fs/promises").cp(src, dest, {
    recursive: true,
    errorOnExist: true,
    force: options.overwrite ?? false,
    preserveTimestamps: options.preserveTimestamps ?? false,
    verbatimSymlinks: true,
  });
}
