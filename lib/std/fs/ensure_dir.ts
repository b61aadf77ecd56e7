/**
 * `@std/fs/ensure-dir` on `node:fs`: same name, same signature.
 *
 * @module
 */
import { mkdirSync } from "node:fs";

/** Makes a folder and those above it. An existing one is fine. */
export async function ensureDir(dir: string | URL): Promise<void> {
  mkdirSync(dir, { recursive: true });
}
