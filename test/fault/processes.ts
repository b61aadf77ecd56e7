/** Processes that carry a word in their environment, and how long they stay. Linux only, as `/proc` is. */
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";

/** Running processes (zombies are none) whose environment holds `NAME=value`, with their command lines. */
export function carriersOf(variable: string): readonly { readonly pid: number; readonly command: string }[] {
  const found = [];
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const environment = textOf(`/proc/${name}/environ`);
    if (environment === null || !`\0${environment}`.includes(`\0${variable}\0`)) continue;
    if (/^\d+ \(.*\) [ZX] /s.test(textOf(`/proc/${name}/stat`) ?? "")) continue;
    found.push({
      pid: Number(name),
      command: (textOf(`/proc/${name}/cmdline`) ?? "").replaceAll("\0", " ").trim().slice(0, 120),
    });
  }
  return found;
}

/** Milliseconds until no carrier was left, or the command lines of those that stayed for longer than `limitMs`. */
export async function untilGone(variable: string, limitMs: number): Promise<number | readonly string[]> {
  const start = performance.now();
  for (;;) {
    const left = carriersOf(variable);
    if (left.length === 0) return performance.now() - start;
    if (performance.now() - start > limitMs) return left.map(({ pid, command }) => `${pid} ${command}`);
    await wait(25);
  }
}

/** Ends what a test left behind, so that a failing test harms no other. */
export function endCarriers(variable: string): void {
  for (const { pid } of carriersOf(variable)) {
    try {
      process.kill(pid, "SIGKILL");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
  }
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return null; // gone meanwhile, or somebody else's
  }
}
