import { isatty } from "node:tty";
import type { Terminal } from "./types.ts";

/** The process's own streams, each touched only when it is used. */
export function createTerminal(): Terminal {
  return {
    get stdin() {
      return process.stdin;
    },
    get stdout() {
      return process.stdout;
    },
    get stderr() {
      return process.stderr;
    },
    get interactive() {
      return isatty(0) && isatty(2);
    },
  };
}
