import { readdirSync, readlinkSync } from "node:fs";
import { readOrNull } from "./process_table.ts";

/**
 * True when a program of this name works in the folder or below it; `null` where the system does not tell (no `/proc`).
 * Somebody else's processes are not seen.
 */
export function isRunningIn(program: string, folder: string): boolean | null {
  if (process.platform !== "linux" || readOrNull("/proc/self/comm") === null) return null;
  return readdirSync("/proc").some((pid) => {
    if (!/^\d+$/.test(pid) || readOrNull(`/proc/${pid}/comm`)?.trim() !== program) return false;
    const cwd = cwdOf(pid);
    return cwd !== null && (cwd === folder || cwd.startsWith(`${folder}/`));
  });
}

function cwdOf(pid: string): string | null {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return null; // gone, or another user's
  }
}
