import { homedir } from "node:os";
import { resolve } from "node:path";
import type { Environment } from "./types.ts";

/** Reads the process's surroundings. Called once: what changes afterwards is not seen. */
export function readEnvironment(): Environment {
  const compiled = isCompiled(import.meta.url);
  return {
    variables: { ...process.env },
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
