import { findProcess, outputOf, readOrNull } from "./process_table.ts";

/**
 * A text that distinguishes one process from every other with the same pid, on this machine, across restarts of it:
 * boot and start time. `null` when no such process runs.
 */
export async function processStart(pid: number): Promise<string | null> {
  if (!Number.isInteger(pid) || pid <= 0) return null;
  if (process.platform === "win32") return await windowsStart(pid);
  const entry = await findProcess(pid);
  if (entry === null) return null;
  const boot = readOrNull("/proc/sys/kernel/random/boot_id")?.trim();
  return boot === undefined ? entry.started : `${boot}:${entry.started}`;
}

async function windowsStart(pid: number): Promise<string | null> {
  const script = `(Get-Process -Id ${pid}).StartTime.ToUniversalTime().Ticks`;
  const ticks = (await outputOf("powershell", ["-NoProfile", "-NonInteractive", "-Command", script])).trim();
  if (/^\d+$/.test(ticks)) return ticks;
  const listed = await outputOf("tasklist", ["/FI", `PID eq ${pid}`, "/NH", "/FO", "CSV"]);
  return listed.includes(`"${pid}"`) ? "unknown" : null;
}
