import { accessSync, constants, existsSync, lstatSync } from "node:fs";
import { join } from "node:path";
import { unwritable } from "./file_errors.ts";
import { ensurePrivateDirectory, temporaryPlace } from "./files.ts";
import { orElse } from "./looks.ts";
import type { Host } from "./types.ts";

/**
 * The folder for everything that Ralph can make again: `XDG_CACHE_HOME`, else `~/.cache`, and a folder of this user's
 * among the temporary ones if the home folder cannot be written.
 *
 * @throws {RalphError} file-unwritable
 */
export async function cacheFolder({ environment: { home, variables } }: Pick<Host, "environment">): Promise<string> {
  const named = variables["XDG_CACHE_HOME"];
  if (named) return named;
  const own = join(home, ".cache");
  if (isWritable(existsSync(own) ? own : home)) return own;
  const path = join(temporaryPlace(), `ralph-cache-${process.getuid?.() ?? ""}`);
  await ensurePrivateDirectory(path);
  const found = lstatSync(path);
  if (found.isDirectory() && found.uid === (process.getuid?.() ?? found.uid)) return path;
  throw unwritable(path, new Error("it is not yours"), "set XDG_CACHE_HOME to a folder that can be written");
}

function isWritable(folder: string): boolean {
  return orElse(() => (accessSync(`${folder}/.`, constants.W_OK), true), false); // a file is none
}
