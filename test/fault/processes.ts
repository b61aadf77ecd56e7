/** Processes that carry a word in their environment or work in a folder, and how long they stay: read from `/proc`. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";

interface Running {
  readonly pid: number;
  readonly command: string;
}

/** Running processes (zombies are none) whose environment holds `NAME=value`, with their command lines. */
export function carriersOf(variable: string): readonly Running[] {
  return runningWhere((folder) => `\0${textOf(`${folder}/environ`) ?? ""}`.includes(`\0${variable}\0`));
}

/** Running processes whose working folder is the root or below it. */
export function workingIn(root: string): readonly Running[] {
  return runningWhere((folder) => {
    try {
      return readlinkSync(`${folder}/cwd`).startsWith(root);
    } catch {
      return false; // gone meanwhile, or somebody else's
    }
  });
}

/** Running processes whose command line contains the text. */
export function commandsWith(text: string): readonly Running[] {
  return runningWhere((folder) => (textOf(`${folder}/cmdline`) ?? "").replaceAll("\0", " ").includes(text));
}

/** A zombie has ended: whoever adopted it has not asked yet. */
export function isAlive(pid: number): boolean {
  const stat = textOf(`/proc/${pid}/stat`);
  if (stat !== null || process.platform === "linux") return stat !== null && !/^\d+ \(.*\) [ZX] /s.test(stat);
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function runningWhere(isMeant: (folder: string) => boolean): readonly Running[] {
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name)).flatMap((name) => {
    const folder = `/proc/${name}`;
    if (!isMeant(folder) || /^\d+ \(.*\) [ZX] /s.test(textOf(`${folder}/stat`) ?? "")) return [];
    const command = (textOf(`${folder}/cmdline`) ?? "").replaceAll("\0", " ").trim().slice(0, 120);
    return [{ pid: Number(name), command }];
  });
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
  end(carriersOf(variable));
}

/** Ends whatever works in a folder that is about to go. */
export function endWorkersIn(root: string): void {
  end(workingIn(root));
}

function end(all: readonly Running[]): void {
  for (const { pid } of all) {
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
