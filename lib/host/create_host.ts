import { createProcesses } from "./process_tree.ts";
import { createTerminal } from "./terminal.ts";
import type { Clock, Environment, Host } from "./types.ts";
import { clearInterval, setInterval } from "node:timers";
import { setTimeout as wait } from "node:timers/promises";
import { homedir } from "node:os";
import { resolve } from "node:path";

/** A power of two of them. */
const LETTERS = "abcdefghijklmnopqrstuvwxyz012345";

/**
 * The real machine. Dispose `host.processes` at the end: it ends what is left and sends the watchdog home.
 *
 * @example Run a program
 * ```ts
 * import { createHost } from "ralph/host";
 *
 * const host = createHost();
 * await using _processes = host.processes;
 * const end = await host.processes.run({ file: "echo", arguments: ["hi"], cwd: "." });
 * console.log(end.exitCode, end.stdout); // 0 hi
 * ```
 */
export function createHost(): Host {
  const environment = readEnvironment();
  const ids = { random };
  const terminal = createTerminal();
  return { clock: createClock(), ids, environment, terminal, processes: createProcesses(environment, ids, terminal) };
}

/** A name from the machine's source of randomness; each letter is equally likely. */
function random(length: number): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(length)), (byte) => LETTERS[byte % LETTERS.length]).join("");
}

/** The machine's own clock. */
function createClock(): Clock {
  const began = Date.now() - performance.now();
  return { now: () => Date.now(), steady: () => Math.round(began + performance.now()), sleep, every };
}

async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  try {
    const most = Math.min(ms, 2 ** 31 - 1); // a timer of more ends at once
    await wait(most, undefined, signal === undefined ? {} : { signal });
  } catch (error) {
    if (!signal?.aborted) throw error;
  }
}

function every(ms: number, act: () => void): Disposable {
  const timer = setInterval(act, ms);
  timer.unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** Reads the process's surroundings. Called once: what changes afterwards is not seen. */
function readEnvironment(): Environment {
  const compiled = isCompiled(import.meta.url);
  return {
    variables: { ...process.env },
    overlay: {},
    platform: process.platform,
    cwd: process.cwd(),
    home: homedir(),
    pid: process.pid,
    executable: process.execPath,
    script: compiled || process.argv[1] === undefined ? null : resolve(process.argv[1]),
    compiled,
  };
}

/** True for a module inside an executable made by `bun build --compile`. */
export function isCompiled(moduleUrl: string): boolean {
  return /(^|\/)(\$bunfs|~BUN)\//.test(moduleUrl);
}
