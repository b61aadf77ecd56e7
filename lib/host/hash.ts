import type { Hash } from "node:crypto";
import process from "node:process";
import { fsPromises } from "./fs_promises.ts";

const CHUNK_BYTES = 1 << 18;

/** sha256 of a text, in hex. */
export function hashText(text: string | Uint8Array): string {
  return sha256().update(text).digest("hex");
}

/** sha256 of a file's bytes in hex, read piece by piece; `null` when there is no file. */
export async function hashFile(path: string): Promise<string | null> {
  let file;
  try {
    file = await fsPromises().open(path, "r");
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    throw error;
  }
  try {
    const hash = sha256();
    const { size } = await file.stat();
    const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, size + 1));
    while (true) {
      const { bytesRead } = await file.read(buffer, 0, buffer.length);
      if (bytesRead === 0) return hash.digest("hex");
      hash.update(buffer.subarray(0, bytesRead));
    }
  } finally {
    await file.close();
  }
}

/** Loaded with the first hash: most commands that only look need none. */
function sha256(): Hash {
  return process.getBuiltinModule("node:crypto").createHash("sha256");
}
