import process from "node:process";

/** `node:fs/promises`, loaded when it is first used: commands that only look need none of it. */
export function fsPromises(): typeof import("node:fs/promises") {
  return process.getBuiltinModule("node:fs/promises");
}
