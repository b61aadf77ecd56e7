import { basename, dirname, join } from "node:path";
import { RalphError } from "../../errors/ralph_error.ts";
import * as files from "../../host/files.ts";
import { cacheFolder } from "../../host/files.ts";
import { takeLock } from "../../host/lock.ts";
import type { Host } from "../../host/types.ts";
import { codeOf } from "../../host/looks.ts";

/** The folder of one repository's checkout, ours until it is disposed of. Paths are absolute. */
export interface CheckoutHome extends AsyncDisposable {
  readonly path: string;
  /** The working tree of the checkout. */
  readonly tree: string;
  /** The folder of all homes. */
  readonly cache: string;
}

/** The hash of a repository's path, and letters by chance where the folder is for one time. */
const HOME_REGEXP = /^[0-9a-f]{16}(?:-[0-9a-z]{6})?$/;

/** Takes the folder that is kept for a repository, or one for this time where another process uses that. */
export async function takeHome(host: Host, topLevel: string): Promise<CheckoutHome> {
  const cache = join(await cacheFolder(host), "checkouts");
  await sweepHomes(host, cache);
  const name = files.hashText(topLevel).slice(0, 16);
  const kept = await lockOf(host, join(cache, name));
  const path = kept.status === "held" ? join(cache, name) : join(cache, `${name}-${host.ids.random(6)}`);
  const lock = kept.status === "held" ? kept : await lockOf(host, path);
  await files.ensurePrivateDirectory(path);
  await files.writePlain(join(path, "root"), topLevel);
  return {
    path,
    tree: join(path, "tree", basename(topLevel)),
    cache,
    async [Symbol.asyncDispose]() {
      if (kept.status === "busy") await files.removeOwn(path, cache);
      if (lock.status === "held") await lock.release();
    },
  };
}

/** Removes what is kept for repositories that are gone, and what a killed process left. */
async function sweepHomes(host: Host, cache: string): Promise<void> {
  for (const name of await files.listDirectory(cache)) {
    if (!HOME_REGEXP.test(name)) continue; // another program's, by its name
    const path = join(cache, name);
    const root = await files.readText(join(path, "root"));
    if (root === null || !name.includes("-") && await files.pathExists(root)) continue;
    try {
      await removeHome(host, path);
    } catch (error) { // another process removed it, or took it: what is left now is left for the next sweep
      if (!RalphError.isInstance(error) && !["ENOENT", "ENOTEMPTY"].includes(codeOf(error))) throw error;
    }
  }
}

/** The folders that are kept for one repository, below the cache folder. */
export async function homesOf(cache: string, topLevel: string): Promise<readonly string[]> {
  const folder = join(cache, "checkouts");
  const homes: string[] = [];
  for (const name of await files.listDirectory(folder)) {
    if (HOME_REGEXP.test(name) && await files.readText(join(folder, name, "root")) === topLevel) {
      homes.push(join(folder, name));
    }
  }
  return homes;
}

/** @returns false where another process uses it */
export async function removeHome(host: Host, path: string): Promise<boolean> {
  const lock = await lockOf(host, path);
  if (lock.status !== "held") return false;
  await files.removeOwn(path, dirname(path));
  await lock.release();
  return true;
}

function lockOf(host: Host, path: string): ReturnType<typeof takeLock> {
  return takeLock(join(path, "lock"), { purpose: "checkout", host });
}
