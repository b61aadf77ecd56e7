import { createClock } from "./clock.ts";
import { readEnvironment } from "./environment.ts";
import { createProcesses } from "./process_tree.ts";
import { createTerminal } from "./terminal.ts";
import type { Host } from "./types.ts";

const LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789";

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
  return {
    clock: createClock(),
    ids,
    environment,
    terminal,
    processes: createProcesses(environment, ids, terminal),
  };
}

/** A name from the machine's source of randomness; each letter is equally likely. */
function random(length: number): string {
  let name = "";
  while (name.length < length) {
    for (const byte of crypto.getRandomValues(new Uint8Array(length * 2))) {
      if (byte < 252 && name.length < length) name += LETTERS[byte % 36];
    }
  }
  return name;
}
