import process from "node:process";
import { readdirSync, readFileSync } from "node:fs";
import { linkAt, orElse } from "./looks.ts";

/** One running process. `started` distinguishes it from a later one with the same pid. */
export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly started: string;
}

/** Every running process that can be seen; zombies are none. From `/proc`, else from `ps`; none on Windows. */
export async function listProcesses(pids: readonly number[] | null = listPids()): Promise<readonly ProcessEntry[]> {
  if (pids === null) return await listByPs();
  return pids.map(readEntry).filter((entry) => entry !== null);
}

/** One running process, or `null` when there is none with this pid. */
export async function findProcess(pid: number): Promise<ProcessEntry | null> {
  if (hasProc()) return readEntry(pid);
  return (await listByPs(["-p", String(pid)]))[0] ?? null;
}

/** When a process began, in the table's own units; `null` without `/proc` or when there is none. */
export function startOf(pid: number): string | null {
  return hasProc() ? readEntry(pid)?.started ?? null : null;
}

/** The pids in `/proc`, or `null` where there is no such folder. */
export function listPids(): readonly number[] | null {
  if (!hasProc()) return null;
  return readdirSync("/proc").filter((name) => name > "0" && name < ":").map(Number);
}

/** Pid of the process started last on this machine, or `null` where the system does not report it. */
export function lastPid(): number | null {
  const text = readOrNull("/proc/loadavg");
  return text === null ? null : Number(text.slice(text.lastIndexOf(" ") + 1));
}

/** The output of a command of a few hundred ms at most; the empty text when it fails or is missing. */
export function outputOf(file: string, arguments_: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    process.getBuiltinModule("node:child_process").execFile(
      file,
      arguments_,
      { maxBuffer: 1 << 26, timeout: 5000, windowsHide: true },
      (_error, stdout) => resolve(stdout),
    );
  });
}

/** The text of a file in `/proc`, bytes as they are; `null` when the process is gone or another user's. */
export function readOrNull(path: string): string | null {
  return orElse(() => readFileSync(path, "latin1"), null);
}

let proc: boolean | undefined;

function hasProc(): boolean {
  return proc ??= process.platform === "linux" && readOrNull("/proc/self/stat") !== null;
}

function readEntry(pid: number): ProcessEntry | null {
  const text = readOrNull(`/proc/${pid}/stat`);
  if (text === null) return null;
  const [state, parent, group, ...rest] = text.slice(text.lastIndexOf(")") + 2).split(" ");
  if (state === "Z" || state === "X") return null;
  return { pid, parent: Number(parent), group: Number(group), started: rest[16]! };
}

async function listByPs(which: readonly string[] = ["-ax"]): Promise<readonly ProcessEntry[]> {
  if (process.platform === "win32") return [];
  const text = await outputOf("ps", [...which, "-o", "pid=,ppid=,pgid=,stat=,lstart="]);
  const entries: ProcessEntry[] = [];
  for (const line of text.split("\n")) {
    const [pid, parent, group, state, ...started] = line.trim().split(/\s+/);
    if (state === undefined || state.startsWith("Z")) continue;
    entries.push({ pid: Number(pid), parent: Number(parent), group: Number(group), started: started.join(" ") });
  }
  return entries;
}

/**
 * A text that distinguishes one process from every other with the same pid, on this machine, across restarts of it:
 * boot and start time. `null` when no such process runs.
 */
export async function processStart(pid: number): Promise<string | null> {
  if (pid === process.pid) return await (ownStart ??= readStart(pid));
  return await readStart(pid);
}

/** This process's own: it does not change, and each lock names it. */
let ownStart: Promise<string | null> | undefined;

async function readStart(pid: number): Promise<string | null> {
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

/**
 * True when a program of this name works in the folder or below it; `null` where the system does not report it (no `/proc`).
 * Other users' processes are not seen.
 */
export function isRunningIn(program: string, folder: string): boolean | null {
  return listPids()?.some((pid) =>
    readOrNull(`/proc/${pid}/comm`)?.trim() === program && `${linkAt(`/proc/${pid}/cwd`)}/`.startsWith(`${folder}/`)
  ) ?? null;
}
