/**
 * This process itself: what it was started with, what it ends with, and who asks it to end.
 *
 * @module
 */
import { readFileSync, realpathSync } from "node:fs";
import { hostname, uptime } from "node:os";
import { orElse } from "./looks.ts";

/** The hidden command by which Ralph is its own agent. */
export const AGENT_COMMAND = "__agent";

/** The signals by which a person or a supervisor ends Ralph. */
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** The words that were typed after the program's name and script. */
export function commandLine(): readonly string[] {
  return process.argv.slice(2);
}

/** The version of Node.js; `null` under Bun and Deno, which report one as well. */
export function nodeVersion(): string | null {
  const { node, bun, deno } = process.versions as Readonly<Record<string, string | undefined>>;
  return bun === undefined && deno === undefined ? node ?? null : null;
}

/** Milliseconds since 1970 at which the machine started. */
export function bootedAt(): number {
  return Date.now() - uptime() * 1000;
}

/** The machine's own name. */
export function machineName(): string {
  return hostname();
}

/** The home folder that the system has for this user, whatever `HOME` says; `""` where none is found. */
export function registeredHome(): string {
  const users = orElse(() => readFileSync("/etc/passwd", "utf8"), "").split("\n").map((line) => line.split(":"));
  return users.find(([, , uid]) => uid === `${process.getuid?.()}`)?.[5] ?? ""; // Bun's `userInfo()` believes HOME
}

/** The code that the process will end with when nothing keeps it running. */
export function setExitCode(code: number): void {
  process.exitCode = code;
}

/** True when the module is the program itself and was not imported. Node before 24 has no `import.meta.main`. */
export function isMainModule(meta: { readonly url: string; readonly main?: boolean }): boolean {
  if (meta.main !== undefined) return meta.main;
  const script = process.argv[1];
  if (script === undefined || !meta.url.startsWith("file:")) return false;
  return realpathSync(script) === realpathSync(process.getBuiltinModule("node:url").fileURLToPath(meta.url));
}

/** True for the super-user, as whom Chromium refuses its own sandbox. */
export function isSuperUser(): boolean {
  return process.getuid?.() === 0;
}

/** The numbers of this user and its group; 0 where users have none. */
export function ownIds(): { readonly uid: number; readonly gid: number } {
  return { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
}

/** Calls `handler` for each ending signal instead of ending the process, until disposed. */
export function onSignals(handler: (signal: string) => void): Disposable {
  const listeners = SIGNALS.map((name) => {
    const listener = (): void => handler(name);
    process.on(name, listener);
    return [name, listener] as const;
  });
  return {
    [Symbol.dispose]() {
      for (const [name, listener] of listeners) process.off(name, listener);
    },
  };
}
