/**
 * `@std/fs/ensure-dir` on `node:fs`: same name, same signature.
 *
 * @module
 */
import { mkdir } from "node:fs/promises";

/** Makes a folder and those above it. One that stands already is fine. */
export async function ensureDir(dir: string | URL): Promise<void> {
  await mkdir(dir, { recursive: true });
}
