import { createClock } from "./clock.ts";
import { readEnvironment } from "./environment.ts";
import { createIds } from "./ids.ts";
import { createProcesses } from "./process_tree.ts";
import { createTerminal } from "./terminal.ts";
import type { Host } from "./types.ts";

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
  const ids = createIds();
  const terminal = createTerminal();
  return {
    clock: createClock(),
    ids,
    environment,
    terminal,
    processes: createProcesses(environment, ids, terminal),
  };
}
